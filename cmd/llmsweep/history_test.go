package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// writeRun writes the directory of a run of one setup at night, as edit completes it.
func writeRun(t *testing.T, path string, night int, edit func(*rundir.Run)) {
	t.Helper()
	run := &rundir.Run{Schema: rundir.Schema, State: rundir.Complete, Client: rundir.Client{Valid: true},
		Started: time.Date(2026, 10, 1+night, 2, 0, 0, 0, time.UTC), Labels: rundir.Labels{Model: "m"},
		Workload: rundir.Workload{PromptTokens: rundir.Lengths{Mean: 512}, OutputTokens: rundir.Lengths{Mean: 128}}}
	edit(run)
	dir, err := store.Create(path)
	noError(t, err)
	defer dir.Close()
	noError(t, dir.Save(run))
}

// TestCompareRuns: the three sweeps of one server that gave 17, 19 and 24 req/s show no difference as runs, though any
// two differ beyond their own intervals.
func TestCompareRuns(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	for name, rate := range map[string]float64{"a1": 17, "a2": 19, "a3": 24, "b1": 18, "b2": 23, "nights/1": 17,
		"nights/2": 19, "nights/3": 24, "nights/4": 20} {
		writeRun(t, at(name), 0, func(run *rundir.Run) {
			n := rundir.Exactly
			run.Plan.Kind = rundir.KindSweep
			run.Saturation = &rundir.Saturation{Rate: n(rate), Low: n(0.99 * rate), High: n(1.01 * rate), Output: n(128 * rate)}
		})
	}
	gate := []string{"--fail-if", "saturation>5%"}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{append(gate, at("a1"), at("a3")), console.Missed, "An interval is that of one run"},
		{append(gate, at("a1"), at("a2"), at("a3"), "--", at("b1"), at("b2")), console.Done,
			"Values are means of the runs of a side"},
		{append(gate, at("a1"), at("a3"), "--history", at("nights")), console.Done, "Values are means of the runs of a side"},
		{append(gate, at("a1"), "--", at("a3")), console.Undecided, "No intervals: one run a side"},
		{[]string{at("nights"), "--", at("nights/1"), at("nights/2")}, console.Done, "A (4)"},
		{[]string{at("nights"), "label:model=m", "--", "label:model=m"}, console.Done, "B (4)"},
	} {
		code, text := command(t, append([]string{"compare"}, c.args...)...)
		if code != c.code || !strings.Contains(strings.Join(strings.Fields(text), " "), c.says) {
			t.Errorf("%v: exit %d, want %d with %q: %s", c.args, code, c.code, c.says, text)
		}
	}
}

// TestHistory: nothing is said of nights that are alike; a step is told, drawn and gated, in both languages; the night
// that shows it fails --fail-new, and later ones do not.
func TestHistory(t *testing.T) {
	nights, rng := filepath.Join(t.TempDir(), "nights"), rand.New(rand.NewPCG(1, 1))
	history := func(flags ...string) (int, string) {
		code, text := command(t, append([]string{"history", nights, "--plain"}, flags...)...)
		return code, strings.Join(strings.Fields(text), " ")
	}
	failed := 0
	for night := range 40 {
		factor := 1.0
		if night >= 30 {
			factor = 1.08
		}
		writeRun(t, filepath.Join(nights, fmt.Sprintf("night-%02d", night+1)), night, func(run *rundir.Run) {
			st := rundir.Stage{Name: "concurrent@8", Kind: "concurrent", State: rundir.Complete, MaxConcurrency: 8}
			st.Requests, st.Rates.Completed = rundir.Requests{Due: 100, Sent: 100, OK: 100}, rundir.Exactly(3)
			st.InterToken = rundir.Exactly(0.02 * factor * (1 + 0.01*rng.NormFloat64()))
			st.TTFT.Mean = rundir.Exactly(0.1 * (1 + 0.01*rng.NormFloat64()))
			run.Plan.Kind, run.Stages = rundir.KindRun, []rundir.Stage{st}
			run.Labels.Free = map[string]string{"commit": fmt.Sprintf("c%02d", night+1)}
		})
		if night < 28 {
			continue
		}
		code, text := history("--fail-new")
		if code == console.Missed {
			failed++
		}
		if night < 30 && !strings.Contains(text, "none of the 2 series changed") ||
			(night < 30 || night >= 33) && code != console.Done {
			t.Errorf("night %d: exit %d, %s", night+1, code, text)
		}
	}
	if failed != 1 {
		t.Errorf("--fail-new failed %d nights, want 1", failed)
	}
	for flags, want := range map[string]string{"": "between 2026-10-30 and 2026-10-31 (commit c30 to c31)",
		"--lang zh": "变长", "--format json": `"found": `} {
		if code, text := history(strings.Fields(flags)...); code != console.Missed || !strings.Contains(text, want) {
			t.Errorf("%s: exit %d, %s", flags, code, text)
		}
	}
}

// command runs a command line that measures nothing, and returns the exit code and all that it prints.
func command(t *testing.T, args ...string) (code int, text string) {
	t.Helper()
	var out strings.Builder
	code = executeAgain(args, console.NewConsole(t.Context(), &out, &out))
	return code, out.String()
}
