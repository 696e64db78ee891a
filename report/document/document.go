// Package document writes the comparison of many configurations as one document: what is compared, a table for each
// configuration, the comparison, the choice, and charts as files beside it. Its own parts stand between markers. When
// it is written again, they are renewed, and every byte that people wrote around them is kept. The package reads and
// writes no file itself. Start at [Write].
package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/choose"
	"llmsweep/report/compare"
	"llmsweep/report/findings"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Options say how to write.
type Options struct {
	Lang lang.Lang
	Base string // prefix of the names of drawings
	// Force overwrites a document that is not llmsweep's, and generated parts that people changed.
	Force bool
	// From is how the document names a file or directory that a result came from, in its comments too.
	From func(path string) string
	// Source is an address to name in place of all sources. Empty: as the document was written, a new one with From.
	Source string
	// Choice is what is to be chosen for; nil: no choice is made. ChoiceNote is kept in the document, so that it can be
	// made again.
	Choice      *choose.Options
	ChoiceNote  any
	AnyWorkload bool
	// Order is what the sections are sorted by, the first two in their headings. Empty: as the document was written, a
	// new one by GPU and engine.
	Order []string
}

// Output is a document and the drawings beside it, by name.
type Output struct {
	Document []byte
	Files    map[string][]byte
}

// runMarker is the JSON in a run's marker.
type runMarker struct {
	From string   `json:"from"`           // as [Options].From names it
	Line int      `json:"line,omitempty"` // in that file; 0 for a run directory
	With []string `json:"with,omitempty"` // the other files of a run whose rows have files of their own
}

type storedRun struct {
	runMarker
	firstLine, lines int // where the document has it
}

func storedRuns(old []byte) ([]storedRun, error) {
	pieces, err := split(string(old))
	if err != nil {
		return nil, err
	}
	var all []storedRun
	for _, p := range pieces {
		var m runMarker
		if p.name == partRun && json.Unmarshal([]byte(p.note), &m) == nil {
			all = append(all, storedRun{m, p.line, strings.Count(p.text, "\n")})
		}
	}
	return all, nil
}

// ChoiceNote returns the settings of a document's choice as JSON; empty where it has none.
func ChoiceNote(old []byte) string {
	pieces, err := split(string(old))
	if err != nil {
		return ""
	}
	for _, p := range pieces {
		if p.name == partChoice {
			return p.note
		}
	}
	return ""
}

// Write writes the document of the setups. Of the old document, empty for a new one, it keeps the text of people and the
// order of the runs.
func Write(setups []setup.Setup, old []byte, o Options) (Output, error) {
	pieces, err := split(string(old))
	if err != nil {
		return Output{}, err
	}
	if len(old) > 0 && !slices.ContainsFunc(pieces, func(p piece) bool { return p.name != "" }) {
		if !o.Force {
			return Output{}, fmt.Errorf("it was not written by llmsweep: it has no <!-- llmsweep:... --> in it; name another " +
				"file with -o, or overwrite it with --force")
		}
		pieces = nil
	}
	if err := checkIntact(pieces); err != nil && !o.Force {
		return Output{}, err
	}
	w := &writer{Options: o, setups: setups, out: Output{Files: map[string][]byte{}}}
	kept := storedSettings(pieces)
	if len(o.Order) == 0 {
		w.Order = kept.Order
	}
	w.Source = cmp.Or(o.Source, kept.Source)
	parts, err := w.parts()
	if err != nil {
		return Output{}, err
	}
	if len(pieces) == 0 {
		pieces = w.skeleton()
	} else if len(o.Order) > 0 {
		pieces = w.sortRuns(pieces)
	}
	w.out.Document = []byte(join(w.fill(pieces, parts)))
	return w.out, nil
}

type writer struct {
	Options
	setups []setup.Setup
	out    Output
}

// The headings of a new document are text, which people may change.
func (w *writer) skeleton() []piece {
	return []piece{
		{text: "# " + docTitle.In(w.Lang) + "\n\n"}, {name: partSummary},
		{text: "\n## " + docDetails.In(w.Lang) + "\n\n"}, {name: partRun},
		{text: "\n"}, {name: partCompare}, {text: "\n"}, {name: partChoice},
	}
}

// parts returns the generated parts that a document has once, by name.
func (w *writer) parts() (map[string]piece, error) {
	parts := map[string]piece{}
	comparison, err := compare.Of(w.setups, w.AnyWorkload)
	if err != nil && !compare.Incomparable(err) && len(w.setups) != 1 {
		return nil, err
	}
	if comparison != nil {
		text, err := w.markdown(comparison.Sections(2), w.drawings())
		if err != nil {
			return nil, err
		}
		parts[partCompare] = piece{name: partCompare, text: text}
	}
	var choices []choose.Choice
	if w.Choice != nil {
		if choices, err = choose.Of(w.setups, *w.Choice); err != nil {
			return nil, err
		}
		text, err := w.choiceText(choices)
		if err != nil {
			return nil, err
		}
		parts[partChoice] = piece{name: partChoice, note: markerJSON(w.ChoiceNote), text: text}
	}
	summary := piece{name: partSummary, text: w.summary(comparison, choices)}
	if len(w.Order) > 0 || w.Source != "" {
		summary.note = markerJSON(settings{w.Order, w.Source})
	}
	parts[partSummary] = summary
	return parts, nil
}

func (w *writer) choiceText(all []choose.Choice) (string, error) {
	var b strings.Builder
	for i := range all {
		c := &all[i]
		sections := c.Sections(2)
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

// fill puts the parts into the pieces, and adds what has no place yet at the end.
func (w *writer) fill(pieces []piece, parts map[string]piece) []piece {
	runs := w.runPieces(pieces)
	var filled []piece
	placed := map[string]bool{}
	for _, p := range pieces {
		part, ok := parts[p.name]
		switch {
		case p.name == partRun:
			if !placed[partRun] { // those that come before all that the document has
				filled = append(filled, runs[""]...)
			}
			placed[partRun] = true
			if written, ok := runs[p.note]; ok && p.note != "" {
				filled = append(filled, written...)
				delete(runs, p.note)
			} else if p.note != "" { // not among the setups, or there twice: it is kept
				filled = append(filled, p)
			}
		case p.name == "":
			filled = append(filled, p)
		case ok && !placed[p.name]:
			placed[p.name] = true
			filled = append(filled, part)
		}
	}
	if !placed[partRun] {
		filled = append(append(filled, piece{text: "\n"}), runs[""]...)
	}
	for _, name := range []string{partCompare, partChoice} {
		if part, ok := parts[name]; ok && !placed[name] {
			filled = append(filled, piece{text: "\n"}, part)
		}
	}
	for i := range filled {
		if p := &filled[i]; p.name != "" {
			p.sum = inputs.OutputSum([]byte(p.text))
		}
	}
	return filled
}

// runPieces renders all runs, by the marker of the run of the document that each stands behind: its own where the
// document has it, else that of the last one that sorts before it. New ones that sort before all stand under "".
func (w *writer) runPieces(pieces []piece) map[string][]piece {
	var known []string
	for _, p := range pieces {
		if p.name == partRun && p.note != "" {
			known = append(known, p.note)
		}
	}
	sorted := make([]*setup.Setup, len(w.setups))
	for i := range w.setups {
		sorted[i] = &w.setups[i]
	}
	slices.SortStableFunc(sorted, w.comparator())
	behind := map[string][]*setup.Setup{}
	at := ""
	for _, s := range sorted {
		if n := w.runNote(s); slices.Contains(known, n) {
			at = n
			behind[at] = slices.Insert(behind[at], 0, s)
			continue
		}
		behind[at] = append(behind[at], s)
	}
	runs := map[string][]piece{}
	last := ""
	for _, n := range append([]string{""}, known...) {
		for _, s := range behind[n] {
			group := w.heading(s)
			runs[n] = append(runs[n], piece{name: partRun, note: w.runNote(s), text: w.runText(s, group != last)})
			last = group
		}
	}
	return runs
}

func (w *writer) runNote(s *setup.Setup) string {
	src := s.Run.Source
	if src == nil {
		return markerJSON(runMarker{From: w.From(s.Path)})
	}
	m := runMarker{From: w.From(src.File), Line: src.Line}
	for i := range s.Run.Stages {
		row := s.Run.Stages[i].Source
		if src.Format != published.LLMD || row.File == src.File {
			continue
		}
		if name := w.From(row.File); !slices.Contains(m.With, name) {
			m.With = append(m.With, name)
		}
	}
	return markerJSON(m)
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
