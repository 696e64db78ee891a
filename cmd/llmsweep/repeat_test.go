package main

import (
	"slices"
	"strings"
	"testing"

	"llmsweep/sweep/rundir"
)

// dues is when the requests of a stage were due.
func dues(t *testing.T, dir, stage string) []float64 {
	t.Helper()
	var all []float64
	for r, err := range rundir.Records(dir) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Stage == stage {
			all = append(all, r.Due.Value())
		}
	}
	slices.Sort(all)
	return all
}

// Repetitions of an open loop have arrivals of their own, and the report puts them side by side.
func TestRepeatedRun(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, errs := llmsweep("run", "sim:", "--rate", "100", "--requests", "20", "--repeats", "2", "--prompt-tokens", "64",
		"--output-tokens", "4", "--warmup", "1", "--plain", "--out", "run")
	if code != exitDone || !strings.Contains(out, "Repeats") || !strings.Contains(out, "poisson@100.00#2") {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	run, err := rundir.Open("run")
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Stages) != 2 || run.Stages[0].Repeat+run.Stages[1].Repeat != 3 || run.Plan.Repeats != 2 {
		t.Fatalf("plan %+v, stages %+v", run.Plan, run.Stages)
	}
	first, second := dues(t, "run", "poisson@100.00"), dues(t, "run", "poisson@100.00#2")
	if len(first) != 20 || len(second) != 20 || slices.Equal(first, second) {
		t.Errorf("arrivals at\n%v and\n%v", first, second)
	}
	code, doc, _ := llmsweep("report", "run", "--format", "markdown", "--lang", "zh")
	if code != exitDone || !strings.Contains(doc, "重复测量") {
		t.Errorf("exit %d\n%s", code, doc)
	}
}
