package main

import (
	"os"
	"path/filepath"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/sweep/rundir"
)

// firstReport is a whole sweep of a simulated 7B on one GPU, as somebody gets it who tries llmsweep for the first time.
const firstReport = "../../examples/first-report"

// TestFirstReport: what the README shows and links is what this version makes of that run. Where its run.json was
// deleted,
// -update measures the run again, in virtual time. The records of its requests, 11 MB, are left out.
func TestFirstReport(t *testing.T) {
	notInShort(t)
	file := filepath.Join(firstReport, rundir.RunFile)
	if _, err := os.Stat(file); err != nil && *testkit.Update {
		inBubble(t, t.TempDir(), func(t *testing.T, w *world) {
			w.must("sweep", "sim:Qwen2-7B/L20", "--label", "model=Qwen2-7B-Instruct,gpu=L20 48GB,gpus=1,engine=vLLM",
				"--no-selftest")
			b, err := os.ReadFile(w.path("llmsweep-run/" + rundir.RunFile))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, b, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
	inBubble(t, t.TempDir(), func(t *testing.T, w *world) {
		for name, args := range map[string][]string{
			"report.md": {"--format", "markdown"}, "report.zh.md": {"--format", "markdown", "--lang", "zh"},
			rundir.PageFile: nil,
		} {
			w.must(append([]string{"report", firstReport, "-o", w.path(name)}, args...)...)
		}
		made, err := os.ReadDir(w.dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range made {
			b, err := os.ReadFile(w.path(f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join(firstReport, f.Name()), string(b))
		}
	})
}
