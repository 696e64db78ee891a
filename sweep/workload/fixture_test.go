package workload

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// byCharacter is a server with one token per character, and a template of five.
var byCharacter = simtest.TextCounter(simtest.Tokenizers()["a character"], 5)

// text returns an input with the content of a file.
func text(t testing.TB, s string) *rowInput {
	t.Helper()
	in, err := newRows("data", strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// readText returns a dataset with the content of a file.
func readText(t *testing.T, s string, o datasetOptions) *Dataset {
	t.Helper()
	d, err := readDataset(t.Context(), text(t, s), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// numbered returns lines with numbers for %d, from 0 on.
func numbered(line string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, line+"\n", i)
	}
	return b.String()
}

// written writes notes as codes with their arguments, and those of rows that were left out as "-[lines] reason".
func written(notes []note.Note) (all []string) {
	arguments := func(n note.Note) string {
		if len(n.Args) == 0 {
			return ""
		}
		return strings.TrimPrefix(fmt.Sprint(n.Args), "map")
	}
	for _, n := range notes {
		if why, ok := n.Args["why"].([]note.Note); ok {
			code := strings.TrimPrefix(why[0].Code, "skip.")
			all = append(all, fmt.Sprintf("-%v %s%s", n.Args["lines"], code, arguments(why[0])))
		} else {
			all = append(all, n.Code+arguments(n))
		}
	}
	return all
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

// newPrefixes returns a workload with prefixes.
func newPrefixes(t *testing.T, tokens, groups int, prompt rundir.Lengths, seed uint64, costs Calibration) *Prefixed {
	t.Helper()
	p, err := newPrefixed(tokens, groups, prompt, mean(5), seed, costs)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mean(n float64) rundir.Lengths { return rundir.Lengths{Mean: n} }

// users returns the first prompts of the next sessions of a stage.
func users(t *testing.T, w Workload, stage string, n int) (all []string) {
	t.Helper()
	for _, s := range simtest.TakeTexts(t, w.Stage(stage), n) {
		all = append(all, s.Turns[0].User)
	}
	return all
}
