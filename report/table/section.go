package table

import (
	"io"
	"slices"
	"strings"

	"llmsweep/report/lang"
)

// Section is a part of a document: a title, lines, a table, notes.
type Section struct {
	Title lang.Text
	Level int         // of its heading in Markdown, from 1
	Lines []lang.Text // before the table
	Table Table       // none where it has no columns

	Markdown lang.Text   // before the table, in Markdown alone: it is written as it is
	Notes    []lang.Text // beneath the table

	// What a console shows only where all is asked for ([Style].All).
	Rest    bool        // the whole section
	Spare   []int       // rows of the table
	Details []lang.Text // lines beneath the notes

	Rows bool // it is about single rows; a document names them where it has their tables
}

// WriteSections writes sections as a console page, or as Markdown.
func WriteSections(w io.Writer, format string, all []Section, o Style) error {
	if format == "markdown" {
		d := NewMarkdown(w, o.Lang)
		for _, s := range all {
			d.section(s)
		}
		return d.Flush()
	}
	visible := all
	if !o.All {
		visible = slices.DeleteFunc(slices.Clone(all), func(s Section) bool { return s.Rest })
	}
	if err := WriteConsole(w, visible, o); err != nil {
		return err
	}
	return writeHidden(w, all, o)
}

// WriteConsole writes sections as a console page.
func WriteConsole(w io.Writer, all []Section, o Style) error {
	for i, s := range all {
		if err := consoleSection(w, s, i == 0, o); err != nil {
			return err
		}
	}
	return nil
}

func writeHidden(w io.Writer, all []Section, o Style) error {
	if o.All {
		return nil
	}
	var hidden []string
	add := func(what string) {
		if !slices.Contains(hidden, what) {
			hidden = append(hidden, what)
		}
	}
	for _, s := range all {
		if s.Rest {
			what, _, _ := strings.Cut(Clean(s.Title.In(o.Lang)), strings.TrimRight(lang.Colon.In(o.Lang), " "))
			add(what)
			continue
		}
		if len(s.Table.Columns) > 0 && len(fitLayout(&s.Table, o).keep) < len(s.Table.Columns) {
			add(wordColumns.In(o.Lang))
		}
		if len(s.Spare) > 0 {
			add(wordRows.In(o.Lang))
		}
		if len(s.Details) > 0 {
			add(wordDetails.In(o.Lang))
		}
	}
	if len(hidden) == 0 {
		return nil
	}
	text := Wrap(sayRest.In(o.Lang, strings.Join(hidden, lang.Semicolon.In(o.Lang))), o.textWidth(), 0)
	_, err := io.WriteString(w, "\n"+paint(text, Faint, o.Color)+"\n")
	return err
}

func consoleSection(w io.Writer, s Section, first bool, o Style) error {
	var b strings.Builder
	if !first {
		b.WriteString("\n")
	}
	if !s.Title.IsZero() {
		for line := range strings.Lines(Wrap(Clean(s.Title.In(o.Lang)), o.textWidth(), Indent)) {
			b.WriteString(paint(strings.TrimRight(line, "\n"), Strong, o.Color) + "\n")
		}
	}
	sectionLines(&b, s.Lines, o)
	if len(s.Table.Columns) > 0 {
		writeTable(&b, s.visibleTable(o), o)
	}
	sectionLines(&b, s.Notes, o)
	if o.All {
		sectionLines(&b, s.Details, o)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *Section) visibleTable(o Style) *Table {
	if o.All || len(s.Spare) == 0 {
		return &s.Table
	}
	t := s.Table
	t.Rows = nil
	for i, row := range s.Table.Rows {
		if !slices.Contains(s.Spare, i) {
			t.Rows = append(t.Rows, row)
		}
	}
	return &t
}

func sectionLines(b *strings.Builder, lines []lang.Text, o Style) {
	for _, s := range lang.In(lines, o.Lang) {
		b.WriteString(Wrap(strings.Repeat(" ", Indent)+Clean(s), o.textWidth(), Indent+2) + "\n")
	}
}
