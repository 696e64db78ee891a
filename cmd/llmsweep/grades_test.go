package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	simserver "llmsweep/client/sim/server"
	"llmsweep/sweep/rundir"
)

// sums writes a dataset of n graded sums, and returns its path.
func (w *world) sums(n int) string {
	var rows strings.Builder
	for i := range n {
		fmt.Fprintf(&rows, "{\"prompt\":\"Question %d: what is %d + %d?\",\"answer\":%d,\"output_tokens\":8}\n", i, i, 3*i, 4*i)
	}
	return w.write(fmt.Sprintf("sums-%d.jsonl", n), rows.String())
}

// graded measures a short load of graded sums on a server with habits, and returns the run and what was printed.
func (w *world) graded(set, items, requests string, o simserver.Options, habits ...string) (*rundir.Run, string) {
	w.t.Helper()
	url, stop := w.server(w.differing(o, habits...))
	defer stop()
	out, _ := w.must("run", url, "--concurrency", "8", "--requests", requests, "--dataset", set, "--graded", items, "--warmup", "1", "--no-selftest", "--plain",
		"--out", w.path("run"), "--force")
	return open(w.t, w.path("run")), out
}

// TestGradesUnderLoad grades servers that answer rightly and wrongly with known shares.
func TestGradesUnderLoad(t *testing.T) {
	for name, c := range map[string]struct {
		options     simserver.Options
		habits      []string
		alone, load float64 // accuracy
		verdict     rundir.GradesVerdict
		says        string
	}{
		"all right":      {alone: 1, load: 1, verdict: rundir.GradesSame, says: "as often right as alone"},
		"some wrong":     {habits: []string{"errs:30%"}, alone: 0.7, load: 0.7, verdict: rundir.GradesSame, says: "as often right as alone"},
		"worse":          {habits: []string{"errs:30%,30%"}, alone: 0.7, load: 0.49, verdict: rundir.GradesWorse, says: "less often right under load"},
		"a wrong cache":  {habits: []string{"confuses:30%"}, alone: 1, load: 0.7, verdict: rundir.GradesWorse, says: "less often right under load"},
		"random answers": {habits: []string{"samples:40%"}, alone: 0.6, load: 0.6, verdict: rundir.GradesUndecided, says: "undecided"},
		"all are cut":    {options: simserver.Options{FullLength: true}, alone: math.NaN(), load: math.NaN(), verdict: rundir.GradesUndecided, says: "were cut by their limit"},
		"it thinks":      {options: simserver.Options{Engine: "sglang", Think: 1}, habits: []string{"errs:30%,30%"}, alone: 0.7, load: 0.49, verdict: rundir.GradesWorse, says: "less often right under load"},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				run, out := w.graded(w.sums(100), "100", "200", c.options, c.habits...)
				g := run.Grades
				if g.Verdict != c.verdict || !strings.Contains(out, c.says) {
					t.Errorf("%s, want %s and %q:\n%s", g.Verdict, c.verdict, c.says, out)
				}
				near := func(what string, got rundir.Estimate, want float64) {
					if math.IsNaN(want) != !got.Mean.Known() || got.Mean.Known() && (got.Low.Value() > want || got.High.Value() < want) {
						t.Errorf("%s: accuracy %v, want %g", what, got, want)
					}
				}
				near("alone", g.Alone.Accuracy, c.alone)
				near("under load", g.Load.Accuracy, c.load)
				if zh, _ := w.must("report", w.path("run"), "--lang", "zh"); !strings.Contains(zh, "正确率") {
					t.Errorf("no accuracy in Chinese:\n%s", zh)
				}
			})
		})
	}
}

// TestCompareGrades compares two runs of the same questions.
func TestCompareGrades(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		set := w.sums(120)
		for name, h := range map[string][]string{"f16": {"errs:10%"}, "q4": {"errs:35%"}, "q8": {"errs:10%"}} {
			url, _ := w.server(w.differing(simserver.Options{}, h...))
			w.must("run", url, "--concurrency", "8", "--requests", "40", "--dataset", set, "--graded", "120", "--warmup", "1", "--no-selftest", "--out", w.path(name))
		}
		out, _ := w.must("compare", w.path("f16"), w.path("q8"), w.path("q4"))
		for _, want := range []string{"q8) is as accurate as Qwen2", "q4) is less accurate than Qwen2"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q:\n%s", want, out)
			}
		}
		if zh, _ := w.must("compare", w.path("f16"), w.path("q4"), "--lang", "zh"); !strings.Contains(zh, "不如") {
			t.Error(zh)
		}
	})
}

// TestGradedDryRun tells how many questions are asked alone, and what they can show.
func TestGradedDryRun(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		out, _ := w.must("run", "http://localhost:1", "--concurrency", "1", "--requests", "40", "--dataset", w.sums(50), "--dry-run")
		for _, want := range []string{"50 graded questions are asked alone first", "1.0 points takes 811"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q:\n%s", want, out)
			}
		}
	})
}
