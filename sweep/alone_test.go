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
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/simtest"
)

// manyAlone is a check that asks many prompts alone, twice.
type manyAlone struct{ asked [2]int }

func (*manyAlone) Phase() string                                                     { return experiment.PhaseCanaries }
func (*manyAlone) Requests() int                                                     { return 200 }
func (*manyAlone) Passes() []string                                                  { return []string{"once", "again"} }
func (*manyAlone) Source(_ string, s load.Source) load.Source                        { return s }
func (*manyAlone) Judge(*rundir.Run, experiment.Log) error                           { return nil }
func (*manyAlone) Recall(*rundir.Run, func(stage string) bool, experiment.Log) error { return nil }

func (m *manyAlone) Pass(name string) load.Source {
	if name == "once" {
		return &counted{n: &m.asked[0]}
	}
	return &counted{n: &m.asked[1]}
}

// counted counts its sessions, of which there are a hundred.
type counted struct{ n *int }

func (c *counted) Next() (load.Session, bool) {
	if *c.n == 100 {
		return load.Session{}, false
	}
	*c.n++
	return simtest.SameInAll(32, 16).Next()
}

// What is asked alone takes a fixed share of a budget; each pass asks the same prompts.
func TestABudgetCutsWhatIsAskedAlone(t *testing.T) {
	for _, budget := range []time.Duration{130 * time.Second, time.Hour} {
		check := &manyAlone{}
		run := briefly(t, budget, func(c *Config, _ *simtest.Attacker) {
			c.Checks, c.Points, c.StageTime = append(c.Checks, check), 1, 5*time.Second // the rows are not looked at
		})
		n := len(run.Stages)
		if n == 0 {
			t.Fatal("no stage")
		}
		first := run.Stages[0].Started
		switch {
		case check.asked[0] < check.asked[1] || check.asked[1] < check.asked[0]-1: // one is drawn and not sent
			t.Errorf("%v: %d were asked, and %d again", budget, check.asked[0], check.asked[1])
		case budget < time.Hour && (first > 0.25*budget.Seconds() || check.asked[1] < 20):
			t.Errorf("%v: %d were asked, and the first stage began after %.1f s", budget, check.asked[1], first)
		case budget == time.Hour && check.asked[1] != 100:
			t.Errorf("%v: %d were asked", budget, check.asked[1])
		}
	}
}

// A run with a budget that was interrupted, or whose process was killed, does not say that the budget was over.
func TestAnInterruptIsNotTheBudgetsEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	synctest.Test(t, func(t *testing.T) {
		dir, err := store.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		run := interruptedSweep(t, dir)
		if run.State != rundir.Interrupted || blamesBudget(t, run) {
			t.Fatalf("state %s, warnings %v", run.State, run.Warnings)
		}
		// The file as the last save before a kill leaves it: no answer, and the last stage unfinished.
		killed := rundir.Run{Schema: run.Schema, Started: run.Started, Plan: run.Plan, Workload: run.Workload, State: rundir.Running, Stages: slices.Clone(run.Stages)}
		killed.Stages[len(killed.Stages)-1].State = rundir.Running
		if err := dir.Save(&killed); err != nil {
			t.Fatal(err)
		}
		reopenUnblamed(t, path, rundir.Running, "run.in-progress")
		if err := dir.Close(); err != nil { // the process is gone
			t.Fatal(err)
		}
		reopenUnblamed(t, path, rundir.Interrupted, "run.killed")

		// A sweep of the same stages that concludes by itself says so. Its state is still "running" then.
		saturation.WriteAnswer(&killed, nil)
		if !blamesBudget(t, &killed) {
			t.Errorf("the budget was over: warnings %v", killed.Warnings)
		}
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

// reopenUnblamed reads the directory of a run that is still saved as running: it has another reason to have no answer than its budget.
func reopenUnblamed(t *testing.T, path string, state rundir.State, why string) {
	t.Helper()
	run, err := saturation.Reopen(path)
	if err != nil {
		t.Fatal(err)
	}
	if run.State != state || run.Failure.Code != why || len(run.Stages) == 0 || blamesBudget(t, run) {
		t.Errorf("want %s: state %s, failure %s, %d stages, warnings %v", why, run.State, run.Failure.Code, len(run.Stages), run.Warnings)
	}
}

// blamesBudget reports whether a run says anywhere that its budget was over before a rate was shown to be saturated.
func blamesBudget(t *testing.T, run *rundir.Run) bool {
	t.Helper()
	b, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(b, []byte(`"saturation.none-budget"`))
}
