package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/simtest"
)

// A run with a budget that was interrupted, or whose process was killed, does not say that the budget was over.
func TestAnInterruptIsNotTheBudgetsEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	synctest.Test(t, func(t *testing.T) {
		dir, err := store.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		run := interruptedSweep(t, dir)
		if run.State != rundir.Interrupted || saysNone(t, run) {
			t.Fatalf("state %s, warnings %v", run.State, run.Warnings)
		}
		// The file as the last save before a kill leaves it: no answer, and the last stage unfinished.
		killed := rundir.Run{Schema: run.Schema, Started: run.Started, Plan: run.Plan, Workload: run.Workload,
			State: rundir.Running, Stages: slices.Clone(run.Stages)}
		killed.Stages[len(killed.Stages)-1].State = rundir.Running
		if err := dir.Save(&killed); err != nil {
			t.Fatal(err)
		}
		reopenUnblamed(t, path, rundir.Running, "run.in-progress")
		if err := dir.Close(); err != nil { // the process is gone
			t.Fatal(err)
		}
		reopenUnblamed(t, path, rundir.Interrupted, "run.killed")
	})
}

// interruptedSweep sweeps a server of 22.86 req/s with a budget of a minute, and is interrupted after 9 s.
func interruptedSweep(t *testing.T, log experiment.Log) *rundir.Run {
	t.Helper()
	run, a := &rundir.Run{}, simtest.NewAttacker(1)
	a.Start()
	c := experimentWith(a, simtest.SameInAll(32, 16))
	c.Budget, c.Log = time.Minute, log
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(9*time.Second, func() { cancel(experiment.ErrInterrupted) })
	if err := Sweep(ctx, c, run); err != nil {
		t.Fatal(err)
	}
	return run
}

// reopenUnblamed reads the directory of a run that is still saved as running: it has another reason to have no answer
// than its budget.
func reopenUnblamed(t *testing.T, path string, state rundir.State, why string) {
	t.Helper()
	run, err := saturation.Reopen(path)
	if err != nil {
		t.Fatal(err)
	}
	if run.State != state || run.Failure.Code != why || len(run.Stages) == 0 || saysNone(t, run) {
		t.Errorf("want %s: state %s, failure %s, %d stages, warnings %v", why, run.State, run.Failure.Code, len(run.Stages),
			run.Warnings)
	}
}

// saysNone reports whether a run says anywhere that its budget was over.
func saysNone(t *testing.T, run *rundir.Run) bool {
	t.Helper()
	b, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(b, []byte(`"budget"`))
}
