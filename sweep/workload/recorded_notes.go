package workload

import (
	"fmt"
	"slices"
	"strconv"

	"llmsweep/client/note"
)

// What a reader should know of a data file. Notes with the argument file are about that file.
var (
	noteRows       = note.Kind{Code: "dataset.rows", Args: []string{"file", "rows", "drawn_from"}} // drawn_from absent where all are taken
	noteEstimated  = note.Kind{Code: "dataset.token-estimate", Args: []string{"file", "texts", "source"}}
	noteGuessed    = note.Kind{Code: "dataset.token-guess", Args: []string{"file", "error"}} // error absent where no server was asked
	noteBuiltIn    = note.Kind{Code: "dataset.built-in", Args: []string{"tokens"}}
	noteLongTexts  = note.Kind{Code: "dataset.long-texts", Args: []string{"file", "rows", "asked"}}
	noteTrace      = note.Kind{Code: "trace.requests", Args: []string{"file", "requests", "time", "rate", "speed"}} // speed absent where it is 1
	noteDisorder   = note.Kind{Code: "trace.sorted", Args: []string{"file", "requests"}}
	noteSkipped    = note.Kind{Code: "file.skipped", Args: []string{"file", "rows", "lines", "why"}} // lines: the first few; why: one note
	noteNoDataset  = note.Kind{Code: "dataset.unusable", Args: []string{"file", "line", "rows", "why"}}
	noteNoTrace    = note.Kind{Code: "trace.unusable", Args: []string{"file", "line", "rows", "why"}}
	noteNoPrompts  = note.Kind{Code: "dataset.empty", Args: []string{"file"}}
	noteNoRequests = note.Kind{Code: "trace.empty", Args: []string{"file"}}
)

// Why a row is left out.
var (
	skipNoObject     = note.Kind{Code: "skip.no-object"}
	skipEmptyPrompt  = note.Kind{Code: "skip.empty-prompt"}
	skipNoPrompt     = note.Kind{Code: "skip.no-prompt"}
	skipOutput       = note.Kind{Code: "skip.output-tokens", Args: []string{"field"}}
	skipSpeaker      = note.Kind{Code: "skip.unknown-speaker"}
	skipOneTurn      = note.Kind{Code: "skip.one-turn"}
	skipNoAnswer     = note.Kind{Code: "skip.no-answer"}
	skipRole         = note.Kind{Code: "skip.unknown-role"}
	skipNotText      = note.Kind{Code: "skip.not-text"}
	skipNoUser       = note.Kind{Code: "skip.no-user-message"}
	skipShort        = note.Kind{Code: "skip.too-short", Args: []string{"min_prompt", "min_output"}}
	skipLongPrompt   = note.Kind{Code: "skip.long-prompt", Args: []string{"max_prompt"}}
	skipLongTotal    = note.Kind{Code: "skip.long-total", Args: []string{"max_total"}}
	skipGrade        = note.Kind{Code: "skip.grade", Args: []string{"error"}}
	skipGradedTurns  = note.Kind{Code: "skip.graded-turns"}
	skipTime         = note.Kind{Code: "skip.no-timestamp"}
	skipFar          = note.Kind{Code: "skip.far-timestamp"}
	skipPromptTokens = note.Kind{Code: "skip.no-prompt-tokens"}
	skipOutputTokens = note.Kind{Code: "skip.no-output-tokens"}
)

// UnusableError is the error for a data file without a single usable row. Note is what a person should read: the file, the
// first line with a fault, that fault, and what such a file must look like.
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

// SkipRows is one reason why rows of a file were left out.
type SkipRows struct {
	Why   note.Note
	Count int
	Lines []int // where the first few of them begin
}

// skips collects the rows that are left out, by reason, in the order in which the reasons came up.
type skips []SkipRows

// skipLines is how many line numbers are kept for each reason: enough to look at some of them, and no more than fit a line.
const skipLines = 5

// add counts one row that is left out.
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
	*s = append(*s, SkipRows{Why: why, Count: 1, Lines: []int{line}})
}

// sameReason is note.Equal for notes of numbers and strings alone. It is called for each row of a file that is left out.
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

func (s skips) total() int {
	n := 0
	for _, e := range s {
		n += e.Count
	}
	return n
}

// unusable returns the error for a file all of whose rows are in s: of kind all, or of kind empty where there are none.
func (s skips) unusable(file string, all, empty note.Kind) error {
	if len(s) == 0 {
		return &UnusableError{empty.New(file)}
	}
	first := s[0]
	for _, e := range s[1:] {
		if e.Lines[0] < first.Lines[0] {
			first = e
		}
	}
	return &UnusableError{all.New(file, first.Lines[0], s.total(), []note.Note{first.Why})}
}

// notes returns one note for each reason.
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
