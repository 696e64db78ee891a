// Package table has the one model of tables and sections that console, Markdown and pages are written from. It knows no
// stages and no metrics. Begin with table.go; layout.go writes consoles, markdown.go Markdown.
package table

import (
	"strings"
	"unicode"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Table is a table in any rendering: its columns, and the cells of its rows. Its texts are in both languages.
type Table struct {
	Title   lang.Text
	Columns []Column
	Rows    [][]Cell // each as long as Columns

	Centered bool // in Markdown, all columns
}

// Column is a column of a Table.
type Column struct {
	Head lang.Text // the heading
	Sub  lang.Text // a second line of the heading: the statistic or the unit
	Left bool      // aligned left; numbers are not
	Drop int       // where the width is short, columns are left out in this order, from 1; 0 is kept
}

// Heading returns the heading in one line.
func (c Column) Heading() lang.Text {
	return lang.Both(func(l lang.Lang) string { return strings.TrimSpace(c.Head.In(l) + " " + c.Sub.In(l)) })
}

// Cell is one cell of a Table.
type Cell struct {
	Text  lang.Text
	Unit  string
	Mark  string // of the marks below
	Bound bool   // the number is only a lower bound
	Tone  Tone

	// What pages alone show.
	Badge rundir.Verdict // a verdict, whose sign stands before the text
	Bars  []float64      // values of 0 and more, drawn small before the text
	Long  bool           // the text may be broken into lines
	Key   string         // of the series that a box before the text shows and hides
}

// Marks on cells, each explained beneath the table that shows it.
const (
	MarkBound       = ">" // a number of which only a lower bound is known; it stands before it
	MarkUnsupported = "?" // a mean or a percentile that too few samples support
)

// Tone is the colour of a cell. It repeats what the text says.
type Tone uint8

// The tones there are.
const (
	Plain Tone = iota
	Strong
	Faint
	Good
	Caution
	Bad
)

// In returns the cell in one piece.
func (c Cell) In(l lang.Lang) string { return c.Whole().In(l) }

// Whole returns the cell in one piece: its text, unit and mark.
func (c Cell) Whole() lang.Text {
	if c.Unit == "" {
		return c.Text.Plus(lang.Same(c.Mark))
	}
	return c.Text.Plus(lang.Same(" " + c.Unit + c.Mark))
}

// Marks returns the marks that the cells of tables have.
func Marks(tables ...Table) string {
	marks := ""
	for _, t := range tables {
		for _, cells := range t.Rows {
			for _, c := range cells {
				marks += c.Mark
				if c.Bound {
					marks += MarkBound
				}
			}
		}
	}
	return marks
}

// Clean returns text that is safe to print in one line: labels and messages come from people and servers, and must not
// break a row or control the terminal.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Style has the settings for tables and sections on a console.
type Style struct {
	Width int  // columns of the terminal; 0: none, such as a pipe
	All   bool // all columns of tables and all sections, whatever the width
	Color bool // escape sequences for colour may be written
	Lang  lang.Lang
}

// maxWidth is the width where no terminal limits it: wider lines can be read on few screens.
const maxWidth = 120

func (o Style) textWidth() int {
	if o.Width > 0 {
		return min(o.Width, maxWidth)
	}
	return maxWidth
}

// tableWidth is 0 for any number of columns.
func (o Style) tableWidth() int {
	switch {
	case o.All:
		return 0
	case o.Width > 0:
		return o.Width
	}
	return maxWidth
}
