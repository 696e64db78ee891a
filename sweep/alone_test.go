package sweep

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
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
		run := briefly(t, budget, func(c *Config, _ *simtest.Attacker) { c.Checks = append(c.Checks, check) })
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

// An interrupted run with a budget does not say that the budget was over.
func TestAnInterruptIsNotTheBudgetsEnd(t *testing.T) {
	run := &rundir.Run{}
	synctest.Test(t, func(t *testing.T) {
		a := simtest.NewAttacker(1)
		a.Start()
		c := experimentWith(a, simtest.SameInAll(32, 16))
		c.Budget = time.Minute
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(9*time.Second, func() { cancel(experiment.ErrInterrupted) })
		if err := Sweep(ctx, c, run); err != nil {
			t.Fatal(err)
		}
	})
	if run.State != rundir.Interrupted {
		t.Fatalf("state %s", run.State)
	}
	if s := run.Saturation; s != nil && s.Reason.Code == "saturation.none-budget" {
		t.Errorf("%+v", s.Reason)
	}
	killed := rundir.Run{Plan: run.Plan, Stages: run.Stages, State: rundir.Interrupted}
	saturation.WriteAnswer(&killed, nil)
	if s := killed.Saturation; s != nil && s.Reason.Code == "saturation.none-budget" {
		t.Errorf("killed: %+v", s.Reason)
	}
}
