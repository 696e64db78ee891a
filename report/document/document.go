// Package document writes the comparison of many configurations as one document: what is compared, a table for each
// configuration, the comparison, the choice, and charts as files beside it. Its own parts stand between markers. When
// it is written again, they are renewed, and every byte that people wrote around them is kept. It reads and writes no
// file itself. [Write] is where one begins to read.
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
	Base string // what drawings' names begin with
	// Force overwrites a document that is not llmsweep's, and generated parts that people changed.
	Force bool
	// From is how the document names a file or directory that a result came from, in its comments too.
	From func(path string) string
	// Source is an address that stands for all sources where the document tells them. Empty: as the document was
	// written, a new one with From.
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

// runMarker is the content of a run's marker.
type runMarker struct {
	From string   `json:"from"`
	Line int      `json:"line,omitempty"`
	With []string `json:"with,omitempty"` // the other files of a run whose rows have files of their own
}

// storedRun is a run that a document holds already.
type storedRun struct {
	From             string // as [Options].From named it
	Line             int    // in that file; 0 for a run directory
	FirstLine, Lines int    // where the document has it
	With             []string
}

// storedRuns lists the runs that a document holds.
func storedRuns(old []byte) ([]storedRun, error) {
	pieces, err := split(string(old))
	if err != nil {
		return nil, err
	}
	var all []storedRun
	for _, p := range pieces {
		var o runMarker
		if p.name == partRun && json.Unmarshal([]byte(p.note), &o) == nil {
			all = append(all, storedRun{o.From, o.Line, p.line, strings.Count(p.text, "\n"), o.With})
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

// Write writes the document of the setups. Old is the document as it was, empty for a new one: of it the text that
// people wrote and the order of the runs are kept.
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

// writer is one document while it is written.
type writer struct {
	Options
	setups []setup.Setup
	out    Output
}

// skeleton is a new document: the headings are text, which people may change.
func (w *writer) skeleton() []piece {
	return []piece{
		{text: "# " + docTitle.In(w.Lang) + "\n\n"}, {name: partSummary},
		{text: "\n## " + docDetails.In(w.Lang) + "\n\n"}, {name: partRun},
		{text: "\n"}, {name: partCompare}, {text: "\n"}, {name: partChoice},
	}
}

// parts are the generated parts that there is one of, by name.
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
		text, err := w.choice(choices)
		if err != nil {
			return nil, err
		}
		parts[partChoice] = piece{name: partChoice, note: note(w.ChoiceNote), text: text}
	}
	summary := piece{name: partSummary, text: w.summary(comparison, choices)}
	if len(w.Order) > 0 || w.Source != "" {
		summary.note = note(settings{w.Order, w.Source})
	}
	parts[partSummary] = summary
	return parts, nil
}

// choice is the choice among the setups, each model for itself.
func (w *writer) choice(all []choose.Choice) (string, error) {
	var b strings.Builder
	for i := range all {
		sections := all[i].Sections(2)
		if i > 0 { // how numbers are meant is said once
			sections[0].Details = nil
		}
		text, err := w.markdown(sections, w.drawing(all[i].Model, "cost", w.modelDrawings(all[i].Model).Cost(&all[i])))
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// markdown returns sections as Markdown, with drawings beneath the first tables, without what is said of single
// rows: it stands at the tables of these.
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
		switch part, ok := parts[p.name]; {
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
	for _, name := range []string{partRun, partCompare, partChoice} {
		part, ok := parts[name]
		switch {
		case placed[name]:
		case name == partRun:
			filled = append(filled, piece{text: "\n"})
			filled = append(filled, runs[""]...)
		case ok:
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

// runPieces renders all runs, and says behind which run of the document each stands, by its marker: itself where the
// document has it, else the last that sorts before it. New ones that sort before all stand under "".
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
		if n := w.note(s); slices.Contains(known, n) {
			at = n
			behind[at] = append([]*setup.Setup{s}, behind[at]...)
			continue
		}
		behind[at] = append(behind[at], s)
	}
	runs := map[string][]piece{}
	last := ""
	for _, n := range append([]string{""}, known...) {
		for _, s := range behind[n] {
			group := w.heading(s)
			runs[n] = append(runs[n], piece{name: partRun, note: w.note(s), text: w.run(s, group != last)})
			last = group
		}
	}
	return runs
}

// note is the marker of a setup.
func (w *writer) note(s *setup.Setup) string {
	if src := s.Run.Source; src != nil {
		o := runMarker{From: w.From(src.File), Line: src.Line}
		for i := range s.Run.Stages {
			from := s.Run.Stages[i].Source
			if src.Format != published.LLMD || from.File == src.File {
				continue
			}
			if name := w.From(from.File); !slices.Contains(o.With, name) {
				o.With = append(o.With, name)
			}
		}
		return note(o)
	}
	return note(runMarker{From: w.From(s.Path)})
}

// run is the part of one setup: its heading and table as they are published, and what a reader of them must know.
func (w *writer) run(s *setup.Setup, heading bool) string {
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
	if src := s.Run.Source; src == nil {
		lines = append(lines, findings.Answer(s.Run, w.Lang)...)
	} else {
		lines = append(lines, w.labels(s.Run)...)
	}
	md.List(append(lines, w.doubts(s)...))
	md.Flush()
	return strings.TrimPrefix(b.String(), "\n")
}

// doubts returns the rows of a setup that are not used, of which some figures are not used, or that have a remark. Rows
// with one reason are named together.
func (w *writer) doubts(s *setup.Setup) []string {
	type reason struct{ not, why string }
	rows := map[reason][]string{}
	var order []reason
	add := func(o setup.RowMark, not string) {
		r := reason{not, o.Reason(w.Lang)}
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
		not := none
		if o.Figures {
			not = o.UnusedFigures(w.Lang)
		}
		add(o, not)
	}
	var lines []string
	for _, r := range order {
		switch named := strings.Join(rows[r], lang.ListComma.In(w.Lang)); r.not {
		case all:
			lines = append(lines, docDoubt.In(w.Lang, named, r.why))
		case none:
			lines = append(lines, named+lang.Colon.In(w.Lang)+r.why)
		default:
			lines = append(lines, docFigures.In(w.Lang, named, r.not, r.why))
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

// labels says where the labels of an imported run come from, and what the document says of it that a reader must know.
func (w *writer) labels(run *rundir.Run) []string {
	if run.Source.Format == published.SixColumn {
		return nil // the heading line has them
	}
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(run.Source.Labels)) {
		switch l := run.Source.Labels[key]; {
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

// source returns the file and line, or the directory, that a setup came from: in a document that is published, no path
// of this machine.
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

// summary returns what is compared, what to choose, and the conclusions.
func (w *writer) summary(c *compare.Comparison, choices []choose.Choice) string {
	var b bytes.Buffer
	table.Heading(&b, 2, docSummary.In(w.Lang))
	n := 0
	for _, about := range []struct {
		say  lang.Phrase
		what func(*rundir.Run) string
	}{
		{docHardware, func(r *rundir.Run) string { return r.Labels.GPU }}, {docEngines, setup.Engine},
		{docModels, setup.Model}, {docQuants, func(r *rundir.Run) string { return setup.Labels(r).Quant }},
	} {
		lacks := func(s setup.Setup) bool { return about.what(s.Run) == "" }
		if names := w.values(about.what); len(names) > 1 || len(names) == 1 && slices.ContainsFunc(w.setups, lacks) {
			if n++; n == 1 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "%d. %s\n", n, about.say.In(w.Lang, table.Escape(strings.Join(names, lang.ListComma.In(w.Lang)))))
		}
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

// values are the names of one thing among the setups, in the order in which they come.
func (w *writer) values(what func(*rundir.Run) string) []string {
	var names []string
	for i := range w.setups {
		if v := what(w.setups[i].Run); v != "" && !slices.Contains(names, v) {
			names = append(names, v)
		}
	}
	return names
}
