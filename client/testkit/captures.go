package testkit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Capture is an answer of a real server, whose name and version are in the file's name.
type Capture struct {
	Name, API string
	Want      string // what the client makes of it
	Stream    []byte
}

// Captures reads the streams of client/testdata, all of which captures.txt must list.
func Captures(t testing.TB) (all []Capture) {
	t.Helper()
	root, err := root()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "client", "testdata")
	table, err := os.ReadFile(filepath.Join(dir, "captures.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		name, row, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		api, want, _ := strings.Cut(row, " ")
		stream, err := os.ReadFile(filepath.Join(dir, name+".sse"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Capture{name, api, want, stream})
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*.sse")); len(files) != len(all) {
		t.Fatalf("captures.txt has %d rows for %d streams", len(all), len(files))
	}
	return all
}
