package workload

import (
	"bytes"
	"context"
	"llmsweep/sweep/load"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"llmsweep/client/note"
)

// tokenizers of different kinds: how many tokens they make of a text.
var tokenizers = map[string]func(string) int{
	"a word":      func(s string) int { return len(strings.Fields(s)) },
	"a character": utf8.RuneCountInString,
	"pieces":      pieces,
	"halves":      func(s string) int { return (len(s) + 1) / 2 },
}

// pieces is shaped as byte-pair encodings are: words of up to six letters with the space before them, digits in threes,
// signs one by one.
func pieces(s string) int {
	n, letters, digits := 0, 0, 0
	for _, r := range s {
		switch {
		case unicode.IsLetter(r):
			if letters%6 == 0 {
				n++
			}
			letters, digits = letters+1, 0
		case unicode.IsDigit(r):
			if digits%3 == 0 {
				n++
			}
			letters, digits = 0, digits+1
		case r == ' ':
			letters, digits = 0, 0
		default:
			n++
			letters, digits = 0, 0
		}
	}
	return n
}

// counter is a server that counts with a tokenizer, and puts a template of so many tokens around each message.
func counter(tokenize func(string) int, around int) Counter {
	return func(_ context.Context, text string) (int, string, error) {
		return tokenize(text) + around, "usage", nil
	}
}

// calibrated is what such a server's texts cost.
func calibrated(t *testing.T, tokenize func(string) int, around int) Calibration {
	t.Helper()
	c, err := Calibrate(t.Context(), counter(tokenize, around), 512)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// near reports whether a count is within 1 %, or within one token.
func near(got, want int) bool {
	return math.Abs(float64(got-want)) <= max(1, 0.01*float64(want))
}

// take takes so many tasks of a source.
func take(t *testing.T, s load.Source, n int) []load.Session {
	t.Helper()
	tasks := make([]load.Session, n)
	for i := range tasks {
		var ok bool
		if tasks[i], ok = s.Next(); !ok {
			t.Fatalf("no more than %d tasks", i)
		}
	}
	return tasks
}

// firstWord is what a text begins with.
func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// text is an input of what a file would hold.
func text(t testing.TB, s string) *input {
	t.Helper()
	in, err := newInput("data", bytes.NewReader([]byte(s)))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// skippedNote is the note of rows that were left out, one for each line.
func skippedNote(file string, why note.Note, lines ...int) note.Note {
	return skips{{Why: why, Count: len(lines), Lines: lines}}.notes(file)[0]
}

// file writes a file and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
