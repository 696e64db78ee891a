// Package published reads results that other tools printed, as runs that know the line of each number, and writes runs
// in those formats. It guesses no number and corrects none: what it cannot read is a remark. Start at [ParseText]; the
// files write_*.go write.
package published

import (
	"slices"
	"strings"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// The formats, as rundir.Source names them.
const (
	SixColumn = "six-column"
	Stress    = "stress"
	Serving   = "serving"
)

// Document is what was read of one file.
type Document struct {
	Name      string
	Runs      []rundir.Run // one a result, in the order of the file; each has a Source
	Remarks   []Remark     // in the order of the file
	lineKinds []lineKind

	Figures, Lost int // the numbers of tables and blocks that were read, and that were not
}

// Broken reports whether so many figures are lost that no conclusion holds: more than a tenth.
func (d *Document) Broken() bool { return 10*d.Lost > d.Figures+d.Lost }

// Remark is something to know about a line.
type Remark struct {
	Line int
	Text string    // in English
	Note note.Note // the same, for other languages; see [Remark.In]
	// Unread reports whether numbers were lost; else the line was read as Text tells.
	Unread bool
}

// lineKind is what a line was taken for. The tests ask that no line of a result is passed over.
type lineKind uint8

const (
	lineBlank   lineKind = iota
	lineProse            // no part of a result
	lineContext          // says something about the results beneath: a heading, a log line, a server's response
	lineFrame            // borders, rules and column headings of a result
	lineNumbers          // holds numbers that were read
	lineUnread           // looks like part of a result, and could not be read: a Remark says why
)

// MainRemark returns the remark that tells best why a document has no result: on what could not be read, else on a
// table with other columns, else the first.
func (d *Document) MainRemark() Remark {
	for _, is := range []func(Remark) bool{
		func(r Remark) bool { return r.Unread },
		func(r Remark) bool { return r.Note.Code == noteOtherTable.Code },
	} {
		if i := slices.IndexFunc(d.Remarks, is); i >= 0 {
			return d.Remarks[i]
		}
	}
	return d.Remarks[0]
}

// KnownColumns says, where a remark is on a table with other columns, which are known.
func KnownColumns(r Remark) string {
	if r.Note.Code != noteOtherTable.Code {
		return ""
	}
	var names []string
	for _, c := range columns() {
		if c.hasNumbers() {
			names = append(names, c.title)
		}
	}
	return "; known are Benchmark and at least three of " + strings.Join(names, ", ")
}

// In returns what a remark says.
func (r *Remark) In(l lang.Lang) string { return Words().Say(r.Note, l) }

func (d *Document) remark(line int, unread bool, n note.Note) {
	d.Remarks = append(d.Remarks, Remark{Line: line, Text: Words().Say(n, lang.English), Note: n, Unread: unread})
}
