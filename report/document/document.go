// Package document writes the comparison of many configurations as one document: what is compared, a table for each
// configuration, the comparison, the choice, and charts as files beside it. The package reads and writes no file
// itself. Start at [Write].
package document

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/choose"
	"llmsweep/report/compare"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	html "llmsweep/report/page"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Options say how to write.
type Options struct {
	Lang        lang.Lang
	Base        string                   // prefix of the names of drawings
	From        func(path string) string // how the document names a file or directory that a result came from
	Source      string                   // an address to name in place of all sources
	Choice      *choose.Options          // what is to be chosen for; nil: no choice is made
	AnyWorkload bool
	Order       []string // what the sections are sorted by first, of [OrderKeys]
}

// Output is a document, the drawings beside it by name, and the page of a comparison; that is nil where there is none.
type Output struct {
	Document, Page []byte
	Drawings       map[string][]byte
}

// Write writes the document of the setups.
func Write(setups []setup.Setup, o Options) (Output, error) {
	w := &writer{Options: o, setups: setups, out: Output{Drawings: map[string][]byte{}}}
	comparison, err := compare.Of(setups, o.AnyWorkload)
	if err != nil && !compare.Incomparable(err) && len(setups) != 1 {
		return Output{}, err
	}
	var choices []choose.Choice
	if o.Choice != nil {
		if choices, err = choose.Of(setups, *o.Choice); err != nil {
			return Output{}, err
		}
	}
	var b strings.Builder
	b.WriteString("# " + docTitle.In(o.Lang) + "\n\n" + w.summary(comparison, choices) +
		"\n## " + docDetails.In(o.Lang) + "\n\n" + w.runs())
	if comparison != nil {
		text, err := w.markdown(comparison.Sections(2), w.drawings())
		if err != nil {
			return Output{}, err
		}
		b.WriteString(text)
		var page bytes.Buffer
		if err := html.Compare(&page, comparison, setups, comparison.Report(1), html.WriteOptions{Lang: o.Lang}); err != nil {
			return Output{}, err
		}
		w.out.Page = page.Bytes()
	}
	if choices != nil {
		text, err := w.choiceText(choices)
		if err != nil {
			return Output{}, err
		}
		b.WriteString(text)
	}
	w.out.Document = []byte(b.String())
	return w.out, nil
}

type writer struct {
	Options
	setups []setup.Setup
	out    Output
}

func (w *writer) choiceText(all []choose.Choice) (string, error) {
	var b strings.Builder
	for i := range all {
		c, sections := &all[i], choose.Sections(all[i:i+1], 2)
		if i > 0 { // how numbers are meant is said once
			sections[0].Details = nil
		}
		text, err := w.markdown(sections, w.drawing(c.Model, "cost", w.modelDrawings(c.Model).Cost(c)))
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// markdown puts the drawings beneath the first tables. Sections on single rows are left out: the runs have them at
// their tables.
func (w *writer) markdown(sections []table.Section, drawings string) (string, error) {
	sections = slices.DeleteFunc(sections, func(s table.Section) bool { return s.Rows })
	first := 1 + slices.IndexFunc(sections[1:], func(s table.Section) bool { return s.Level > sections[0].Level })
	if first == 0 {
		first = len(sections)
	}
	var b bytes.Buffer
	if err := table.WriteSections(&b, "markdown", sections[:first], table.Style{Lang: w.Lang}); err != nil {
		return "", err
	}
	b.WriteString(drawings)
	err := table.WriteSections(&b, "markdown", sections[first:], table.Style{Lang: w.Lang})
	return b.String(), err
}

// runs renders all runs, sorted.
func (w *writer) runs() string {
	sorted := make([]*setup.Setup, len(w.setups))
	for i := range w.setups {
		sorted[i] = &w.setups[i]
	}
	slices.SortStableFunc(sorted, w.compareSetups)
	var b strings.Builder
	last := ""
	for _, s := range sorted {
		group := w.heading(s)
		mark := published.MarkMeasured
		if s.Run.Source != nil {
			mark = published.MarkRead
		}
		b.WriteString(mark + "\n" + w.runText(s, group != last))
		last = group
	}
	return b.String()
}

func (w *writer) runText(s *setup.Setup, heading bool) string {
	var b bytes.Buffer
	if heading {
		table.Heading(&b, 3, w.heading(s))
	}
	tables := published.Tables(s.Run, published.SixColumnOptions{})
	table.WriteSections(&b, "markdown", []table.Section{tables}, table.Style{Lang: w.Lang})
	md := table.NewMarkdown(&b, w.Lang) // a bytes.Buffer takes everything
	lines := []string{docSource.In(w.Lang, w.source(s))}
	if s.Name != setup.Title(s.Run, w.Lang) {
		lines = append(lines, docName.In(w.Lang, s.Name))
	}
	if s.Run.Source == nil {
		lines = append(lines, findings.Answer(s.Run, w.Lang)...)
	} else {
		lines = append(lines, w.labels(s.Run)...)
	}
	md.List(append(lines, w.doubts(s)...))
	md.Flush()
	return strings.TrimPrefix(b.String(), "\n")
}

// doubts names rows with one reason together.
func (w *writer) doubts(s *setup.Setup) []string {
	type reason struct{ unused, why string }
	rows := map[reason][]string{}
	var order []reason
	add := func(o setup.RowMark, unused string) {
		r := reason{unused, o.Reason(w.Lang)}
		if rows[r] == nil {
			order = append(order, r)
		}
		rows[r] = append(rows[r], o.Row+lang.InParens.In(w.Lang, o.Where))
	}
	const all, none = "*", ""
	for _, o := range s.LeftOut {
		add(o, all)
	}
	for _, o := range s.Marked {
		unused := none
		if o.Figures {
			unused = o.UnusedFigures(w.Lang)
		}
		add(o, unused)
	}
	var lines []string
	for _, r := range order {
		names := strings.Join(rows[r], lang.ListComma.In(w.Lang))
		switch r.unused {
		case all:
			lines = append(lines, docDoubt.In(w.Lang, names, r.why))
		case none:
			lines = append(lines, names+lang.Colon.In(w.Lang)+r.why)
		default:
			lines = append(lines, docFigures.In(w.Lang, names, r.unused, r.why))
		}
	}
	return lines
}

// partlyUsed counts the rows of which some figures are not used.
func partlyUsed(marked []setup.RowMark) int {
	rows := map[string]bool{}
	for _, o := range marked {
		if o.Figures {
			rows[o.Where] = true
		}
	}
	return len(rows)
}

func (w *writer) labels(run *rundir.Run) []string {
	if run.Source.Format == published.SixColumn {
		return nil // the heading line has them
	}
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(run.Source.Labels)) {
		l := run.Source.Labels[key]
		switch {
		case l.Line == 0:
			parts = append(parts, l.Text)
		case l.Inferred:
			parts = append(parts, docInferred.In(w.Lang, key, l.Line))
		default:
			parts = append(parts, docRead.In(w.Lang, key, l.Line))
		}
	}
	var lines []string
	if len(parts) > 0 {
		lines = append(lines, docLabels.In(w.Lang, strings.Join(parts, lang.ListComma.In(w.Lang))))
	}
	for _, n := range published.ImportNotes(run) {
		lines = append(lines, published.Words().Say(n, w.Lang))
	}
	return lines
}

func (w *writer) source(s *setup.Setup) string {
	src := s.Run.Source
	switch {
	case src == nil:
		return cmp.Or(w.Source, w.From(s.Path))
	case w.Source != "":
		return docRead.In(w.Lang, w.Source, src.Line)
	}
	return w.From(src.File) + ":" + strconv.Itoa(src.Line)
}

func (w *writer) summary(c *compare.Comparison, choices []choose.Choice) string {
	var b bytes.Buffer
	table.Heading(&b, 2, docSummary.In(w.Lang))
	var subjects []string
	for _, about := range []struct {
		say   lang.Phrase
		label func(*rundir.Run) string
	}{
		{docHardware, func(r *rundir.Run) string { return r.Labels.GPU }}, {docEngines, setup.Engine},
		{docModels, setup.Model}, {docQuants, func(r *rundir.Run) string { return setup.Labels(r).Quant }},
	} {
		lacks := func(s setup.Setup) bool { return about.label(s.Run) == "" }
		names := w.distinct(about.label)
		if len(names) > 1 || len(names) == 1 && slices.ContainsFunc(w.setups, lacks) {
			list := table.Escape(strings.Join(names, lang.ListComma.In(w.Lang)))
			subjects = append(subjects, about.say.In(w.Lang, list))
		}
	}
	for i, subject := range subjects {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%d. %s\n", i+1, subject)
	}
	var lines []string
	for i := range choices {
		if i == 0 {
			lines = append(lines, choices[i].DemandText().In(w.Lang))
		}
		lines = append(lines, choices[i].Recommendation().In(w.Lang))
	}
	if c != nil {
		lines = append(lines, lang.In(c.Answer(), w.Lang)...)
		if out, partly := len(c.LeftOut), partlyUsed(c.Marked); out+partly > 0 {
			lines = append(lines, docNotUsed.In(w.Lang, out, partly))
		}
		if setup.LimitedByClient(c.LeftOut) {
			lines = append(lines, findings.ClientRemedy.In(w.Lang))
		}
	}
	table.Bullets(&b, lines)
	return strings.TrimPrefix(b.String(), "\n")
}

func (w *writer) distinct(label func(*rundir.Run) string) []string {
	var names []string
	for i := range w.setups {
		if v := label(w.setups[i].Run); v != "" && !slices.Contains(names, v) {
			names = append(names, v)
		}
	}
	return names
}

// SourceNames returns how a document names files: beneath its directory by the path from there, elsewhere as names
// does, since a document that is published tells nothing of the machine that it was written on.
func SourceNames(document string, names func(path string) string) func(path string) string {
	return func(path string) string {
		file, err1 := filepath.Abs(path)
		dir, err2 := filepath.Abs(filepath.Dir(document))
		if err1 != nil || err2 != nil {
			return names(path)
		}
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
		return names(file)
	}
}
