package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/sweep/rundir"
)

// firstReport is a whole sweep of a simulated 7B on one GPU, as somebody gets it who tries llmsweep for the first time.
const firstReport = "../../examples/first-report"

// TestFirstReport: what the README shows and links is what this version makes of that run. Where its run.json was
// deleted, -update measures it again, in virtual time. The records of its requests, 11 MB, are left out.
func TestFirstReport(t *testing.T) {
	inBubble(t, t.TempDir(), func(t *testing.T, w *world) {
		file := filepath.Join(firstReport, rundir.RunFile)
		if _, err := os.Stat(file); err != nil && *testkit.Update {
			w.must("sweep", "sim:Qwen2-7B/L20", "--label", "model=Qwen2-7B-Instruct,gpu=L20 48GB,gpus=1,engine=vLLM",
				"--no-selftest", "--out", w.path("run"))
			golden(t, file, contentOf(t, w.path("run/"+rundir.RunFile)))
		}
		writes(w, firstReport, "report.md", "--format", "markdown")
		writes(w, firstReport, "report.zh.md", "--format", "markdown", "--lang", "zh")
		writes(w, firstReport, rundir.PageFile)
		const fence, begins = "```\n", "Qwen2-7B-Instruct · "
		out, _ := w.must("report", firstReport)
		before, rest, ok := strings.Cut(readme(t), fence+begins)
		_, after, ok2 := strings.Cut(rest, "\n"+fence)
		if !ok || !ok2 {
			t.Fatal("the README has no output")
		}
		golden(t, "../../README.md", before+fence+strings.TrimSpace(out)+"\n"+fence+after)
	})
}

// writes compares what report writes to a file, and the drawings beside it, with the files in the run directory.
func writes(w *world, run, file string, flags ...string) {
	w.t.Helper()
	made := w.t.TempDir()
	w.must(append([]string{"report", run, "--plain", "-o", filepath.Join(made, file)}, flags...)...)
	files, err := os.ReadDir(made)
	noError(w.t, err)
	for _, f := range files {
		golden(w.t, filepath.Join(run, f.Name()), contentOf(w.t, filepath.Join(made, f.Name())))
	}
}

// TestExampleReports: the reports and drawings of the runs among the examples are what this version writes. Older ones
// named loads and percentiles otherwise than the pages made from the same runs. -update renews them.
func TestExampleReports(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../examples/*/*/report.md", "../../examples/*/*/*/report.md"} {
		found, _ := filepath.Glob(pattern)
		files = append(files, found...)
	}
	reports := 0
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(filepath.Dir(file), rundir.RunFile)); err == nil {
			reports++
			inBubble(t, "", func(t *testing.T, w *world) {
				writes(w, filepath.Dir(file), "report.md", "--format", "markdown")
			})
		}
	}
	if reports < 3 {
		t.Errorf("%d reports among the examples", reports)
	}
}
