package workload

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/sweep/simtest"
)

// text returns an input with the content of a file.
func text(t testing.TB, s string) *rowInput {
	t.Helper()
	in, err := newRows("data", bytes.NewReader([]byte(s)))
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

// calibrated returns the calibration of such a server.
func calibrated(t *testing.T, tokenize func(string) int, around int) Calibration {
	t.Helper()
	c, err := calibrate(t.Context(), simtest.TextCounter(tokenize, around), 512)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// firstWord returns the first word of a text.
func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}
