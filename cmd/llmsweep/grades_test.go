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
		options       simserver.Options
		habits        []string
		alone, load   float64 // accuracy
		verdict, says string
	}{
		"all right":      {alone: 1, load: 1, verdict: rundir.GradesSame, says: "as often right as alone"},
		"some wrong":     {habits: []string{"errs:30%"}, alone: 0.7, load: 0.7, verdict: rundir.GradesSame, says: "as often right as alone"},
		"worse":          {habits: []string{"errs:30%,20%"}, alone: 0.7, load: 0.56, verdict: rundir.GradesWorse, says: "less often right under load"},
		"a wrong cache":  {habits: []string{"confuses:30%"}, alone: 1, load: 0.7, verdict: rundir.GradesWorse, says: "less often right under load"},
		"random answers": {habits: []string{"samples:30%"}, alone: 0.7, load: 0.7, verdict: rundir.Undecided, says: "undecided"},
		"all are cut":    {options: simserver.Options{FullLength: true}, alone: math.NaN(), load: math.NaN(), verdict: rundir.Undecided, says: "were cut by their limit"},
		"another API":    {options: simserver.Options{Engine: "sglang"}, habits: []string{"errs:30%,20%"}, alone: 0.7, load: 0.56, verdict: rundir.GradesWorse, says: "less often right under load"},
		"it thinks":      {options: simserver.Options{Think: 2}, habits: []string{"errs:30%,20%"}, alone: 0.7, load: 0.56, verdict: rundir.GradesWorse, says: "less often right under load"},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				run, out := w.graded(w.sums(150), "150", "450", c.options, c.habits...)
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
				t.Log(out)
			})
		})
	}
}
