package main

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// sums writes a dataset of n graded sums, and returns its path.
func (w *world) sums(n int) string {
	var rows strings.Builder
	for i := range n {
		fmt.Fprintf(&rows, "{\"prompt\":\"Question %d: what is %d + %d?\",\"answer\":%d,\"output_tokens\":8}\n", i, i, 3*i,
			4*i)
	}
	return w.write(fmt.Sprintf("sums-%d.jsonl", n), rows.String())
}

// grades starts a server that answers wrongly as the habit says, if any, and returns its URL.
func (w *world) grades(o simserver.Options, habits ...string) string {
	w.t.Helper()
	config := simtest.Slowed(simtest.Preset(w.t, "demo"), 5)
	var err error
	if config.Habits, err = sim.ParseHabits(habits); err != nil {
		w.t.Fatal(err)
	}
	url, _ := w.server(w.simulation(config, o))
	return url
}

// graded are the flags of a run of graded sums.
func graded(url, set, requests, out string, more ...string) []string {
	return append([]string{"run", url, "--concurrency", "8", "--requests", requests, "--dataset", set, "--warmup", "1",
		"--no-selftest", "--plain", "--label", "gpu=L20,gpus=1", "--out", out}, more...)
}

// TestGrades grades servers that answer rightly with a known share.
func TestGrades(t *testing.T) {
	type test struct {
		options  simserver.Options
		habits   []string
		accuracy float64
		says     string
	}
	each(t, map[string]test{
		"all right":   {accuracy: 1, says: "graded answers are right: 100 %"},
		"some wrong":  {habits: []string{"errs:30%"}, accuracy: 0.7, says: "graded answers are right"},
		"all are cut": {options: simserver.Options{FullLength: true}, accuracy: math.NaN(), says: "were cut by their limit"},
		"it thinks": {options: simserver.Options{Engine: "sglang", Think: 1}, habits: []string{"errs:50%"}, accuracy: 0.5,
			says: "graded answers are right"},
	}, func(t *testing.T, w *world, c test) {
		out, _ := w.must(graded(w.grades(c.options, c.habits...), w.sums(100), "100", w.path("run"))...)
		run := open(t, w.path("run"))
		zh, _ := w.must("report", w.path("run"), "--lang", "zh")
		if !strings.Contains(out, c.says) || !strings.Contains(zh, "计分回答") {
			t.Errorf("no %q:\n%s\n%s", c.says, out, zh)
		}
		for what, g := range map[string]*rundir.Graded{"the run": &run.Grades.All, "the stage": run.Stages[0].Graded} {
			a := g.Accuracy
			if math.IsNaN(c.accuracy) != !a.Mean.Known() || a.Mean.Known() && (a.Low.Value() > c.accuracy ||
				a.High.Value() < c.accuracy) {
				t.Errorf("%s: accuracy %v, want %g", what, a, c.accuracy)
			}
		}
	})
}

// TestAccuracyIsAnObjective of a run, with its exit codes, and a metric of compare, of runs and of live servers.
func TestAccuracyIsAnObjective(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		set := w.sums(120)
		for name, c := range map[string]struct {
			habit, requests string
			code            int
			says            string
		}{
			"good":    {"errs:1%", "120", console.Done, ""},
			"bad":     {"errs:50%", "120", console.Missed, "the SLO is missed: accuracy>80% is missed in concurrent@8"},
			"too few": {"errs:1%", "10", console.Undecided, "do not show whether accuracy>80% is met"},
		} {
			url := w.grades(simserver.Options{}, c.habit)
			w.exits(c.code, c.says, graded(url, set, c.requests, w.path(name), "--slo", "accuracy>80%")...)
		}
		for limit, want := range map[string]int{"accuracy<-5%": console.Missed, "accuracy>5%": console.Done} {
			w.exits(want, "accuracy", "compare", w.path("good"), w.path("bad"), "--fail-if", limit)
		}
		text := w.exits(console.Missed, "Right answers: A 100 %, B ", "compare", "--live", w.grades(simserver.Options{}),
			w.grades(simserver.Options{}, "errs:50%"), "--concurrency", "2", "--stage-time", "2s", "--budget", "60s", "--warmup",
			"1", "--no-selftest", "--dataset", set, "--out", w.path("pair"), "--fail-if", "accuracy<-10%")
		if !strings.Contains(text, "accuracy of B is -") {
			t.Error(text)
		}
	})
}
