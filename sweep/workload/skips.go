package workload

import (
	"fmt"
	"slices"
	"strconv"

	"llmsweep/client/note"
)

// UnusableError is the error for a data file without a single usable row. Note is what a person should read: the file,
// the first line with a fault, that fault, and what such a file must look like.
type UnusableError struct {
	Note note.Note
}

// Error returns the same as Note, the fault by its code.
func (e *UnusableError) Error() string {
	file := e.Note.String("file")
	line, ok := e.Note.Number("line")
	if !ok {
		return file + " has no rows"
	}
	rows, _ := e.Note.Number("rows")
	why, _ := e.Note.Args["why"].([]note.Note)
	return fmt.Sprintf("%s:%.0f: no usable row in %.0f; the first fault: %s", file, line, rows, why[0].Code)
}

type skip struct {
	Why   note.Note
	Count int
	Lines []int // where the first few of them begin
}

// skips are the reasons why rows were left out, in the order in which they came up.
type skips []skip

// skipLines is how many line numbers are kept for each reason: enough to look at some of them, and no more than fit a
// line.
const skipLines = 5

func (s *skips) add(why note.Note, line int) {
	for i := range *s {
		if e := &(*s)[i]; sameReason(e.Why, why) {
			e.Count++
			if len(e.Lines) < skipLines {
				e.Lines = append(e.Lines, line)
				slices.Sort(e.Lines) // rows drawn at random come in any order
			}
			return
		}
	}
	*s = append(*s, skip{Why: why, Count: 1, Lines: []int{line}})
}

// sameReason is note.Equal for notes of numbers and strings alone. It is called for each row of a file that is left
// out.
func sameReason(a, b note.Note) bool {
	if a.Code != b.Code || len(a.Args) != len(b.Args) {
		return false
	}
	for name, v := range a.Args {
		if b.Args[name] != v {
			return false
		}
	}
	return true
}

// unusable returns the error for a file all of whose rows are in s: of kind all, or of kind empty where there are none.
func (s skips) unusable(file string, all, empty note.Kind) error {
	if len(s) == 0 {
		return &UnusableError{empty.New(file)}
	}
	first, rows := s[0], 0
	for _, e := range s {
		rows += e.Count
		if e.Lines[0] < first.Lines[0] {
			first = e
		}
	}
	return &UnusableError{all.New(file, first.Lines[0], rows, []note.Note{first.Why})}
}

func (s skips) notes(file string) []note.Note {
	notes := make([]note.Note, len(s))
	for i, e := range s {
		lines := make([]string, len(e.Lines))
		for k, line := range e.Lines {
			lines[k] = strconv.Itoa(line)
		}
		notes[i] = noteSkipped.New(file, e.Count, lines, []note.Note{e.Why})
	}
	return notes
}
