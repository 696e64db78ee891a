package main

import (
	"os"
	"path/filepath"
	"testing"

	"llmsweep/sweep/rundir"
)

// TestExampleReports: the reports and drawings of the runs among the examples are what this version writes. Older ones
// named loads and percentiles otherwise than the pages made from the same runs. -update renews them.
func TestExampleReports(t *testing.T) {
	notInShort(t)
	var files []string
	for _, pattern := range []string{"../../examples/*/*/", "../../examples/*/*/*/"} {
		found, err := filepath.Glob(pattern + rundir.RunFile)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	reports := 0
	for _, file := range files {
		dir := filepath.Dir(file)
		if _, err := os.Stat(filepath.Join(dir, "report.md")); err != nil {
			continue
		}
		reports++
		made := t.TempDir()
		inBubble(t, "", func(t *testing.T, w *world) {
			w.must("report", dir, "--format", "markdown", "--plain", "-o", filepath.Join(made, "report.md"))
		})
		written, err := os.ReadDir(made)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range written {
			b, err := os.ReadFile(filepath.Join(made, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join(dir, f.Name()), string(b))
		}
	}
	if reports < 3 {
		t.Errorf("%d reports among the examples", reports)
	}
}
