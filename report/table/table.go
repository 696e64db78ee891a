// Package table has tables, the one model of which a console table, a Markdown table and a section of a document are written.
package table

import (
	"strings"
	"unicode"
)

// Table is a table in any rendering: its columns, and the cells of its rows.
type Table struct {
	Title   string
	Columns []Column
	Rows    [][]Cell // each as long as Columns
}

// Column is a column of a Table.
type Column struct {
	Head string // the heading
	Sub  string // a second line of the heading: the statistic or the unit
	Left bool   // aligned left; numbers are not
	Drop int    // where the width is short, columns are left out in this order, from 1; 0 is kept
}

// Cell is one cell of a Table.
type Cell struct {
	Text string
	Unit string
	Mark string // one of the marks below
	Tone Tone
}

// Marks on cells, each explained beneath the table that shows it.
const (
	MarkUnsupported = "?" // a percentile that too few samples support
	MarkCut         = "*" // a stage that was cut short
	MarkInvalid     = "!" // a stage in which the client was the limit
	MarkExceeded    = "^" // a ceiling that a later stage exceeded
	MarkSpread      = "+" // a spread between runs that their own errors do not explain
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

// String is the cell in one piece.
func (c Cell) String() string {
	if c.Unit == "" {
		return c.Text + c.Mark
	}
	return c.Text + " " + c.Unit + c.Mark
}

// Shows reports whether any cell of the tables passes the test.
func Shows(tables []Table, test func(Cell) bool) bool {
	for _, t := range tables {
		for _, cells := range t.Rows {
			for _, c := range cells {
				if test(c) {
					return true
				}
			}
		}
	}
	return false
}

// Clean returns text that is safe to print in one line: labels and messages come from people and servers, and must not break a
// row or control the terminal.
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
	Width int  // columns of the terminal; 0: unlimited
	Color bool // escape sequences for colour may be written
}
