package report

import (
	"fmt"
	"io"
	"strings"

	"llmsweep/sweep/rundir"
)

// Phrase is something that the packages beneath this one say, in every language there is.
type Phrase struct{ words phrase }

// Say makes a Phrase. With arguments it is a format, and both languages use the same arguments.
func Say(en, zh string) Phrase { return Phrase{phrase{en, zh}} }

// In is the phrase in that language.
func (p Phrase) In(l Lang, args ...any) string { return p.words.in(l, args...) }

// Section is a part of a document that speaks of more than one run.
type Section struct {
	Title string
	Level int      // of its heading in Markdown, from 1
	Lines []string // before the table
	Table Table    // none where it has no columns
	Notes []string // beneath the table
}

// SectionFormats are the names that [WriteSections] knows.
func SectionFormats() []string { return []string{"console", "markdown"} }

// WriteSections writes sections as a console page, or as Markdown.
func WriteSections(w io.Writer, format string, all []Section, o Style) error {
	if format == "markdown" {
		d := newMDWriter(w)
		for _, s := range all {
			d.section(s)
		}
		return d.flush()
	}
	for i, s := range all {
		if err := consoleSection(w, s, i == 0, o); err != nil {
			return err
		}
	}
	return nil
}

func consoleSection(w io.Writer, s Section, first bool, o Style) error {
	var b strings.Builder
	if !first {
		b.WriteString("\n")
	}
	if s.Title != "" {
		b.WriteString(paint(clean(s.Title), Strong, o.Color) + "\n")
	}
	sectionLines(&b, s.Lines, o)
	if len(s.Table.Columns) > 0 {
		if err := writeTables(&b, []Table{s.Table}, o.Width, o.Color); err != nil {
			return err
		}
	}
	sectionLines(&b, s.Notes, o)
	_, err := io.WriteString(w, b.String())
	return err
}

func sectionLines(b *strings.Builder, lines []string, o Style) {
	for _, s := range lines {
		b.WriteString(wrap(strings.Repeat(" ", indent)+clean(s), o.Width, indent) + "\n")
	}
}

// Published writes one run as the six-column format has it: its heading line, its table, and what a reader of that must
// know.
func Published(w io.Writer, run *rundir.Run, l Lang) error {
	d := document{newMDWriter(w), l}
	d.published(run)
	return d.flush()
}

// Bullets writes lines as a Markdown list.
func Bullets(w io.Writer, lines []string) error {
	d := newMDWriter(w)
	d.bullets(lines)
	return d.flush()
}

// Heading writes a Markdown heading.
func Heading(w io.Writer, level int, text string) error {
	_, err := fmt.Fprintf(w, "\n%s %s\n", strings.Repeat("#", level), escape(text))
	return err
}

// Number is a cell with a figure in a fixed unit, to so many decimals.
func Number(f rundir.Number, unit string, decimals int) Cell {
	return quantity(f, unit, fixed(decimals))
}

// Digits is a cell with a figure to three digits.
func Digits(f rundir.Number, unit string) Cell { return quantity(f, unit, short) }

// Seconds is a cell with a duration in the unit that reads best.
func Seconds(f rundir.Number) Cell { return timed(f) }

// Answer says in sentences what a run found out; nothing where it measured no more than rows.
func Answer(run *rundir.Run, l Lang) []string { return answer(run, l) }
