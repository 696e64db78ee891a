package sweep

import (
	"context"
	"errors"
	"testing"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// busy is a server that others use: it never becomes idle. It counts the time that was waited for it.
func busy(waited *time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		began := time.Now()
		<-ctx.Done()
		*waited += time.Since(began)
		return errors.New("3 requests run, sent by other clients")
	}
}

// Nothing is waited for after the last stage of a run.
func TestARunEndsWithItsLastRequest(t *testing.T) {
	t.Parallel()
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		c, run := experimentWith(d, simtest.SameInAll(64, 16)), &rundir.Run{}
		var waited time.Duration
		c.Idle, c.Warmup = busy(&waited), experiment.Warmup{}
		began := time.Now()
		if err := Run(t.Context(), c, []experiment.Stage{experiment.NewStage(arrival.Closed{Concurrency: 2}, 6, 0)},
			run); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); waited > 0 || took > 5*time.Second {
			t.Errorf("a run of 6 requests took %v, of which it waited %v for an idle server", took, waited)
		}
	})
}

// phases collects the phases that an observer is told of.
type phases struct {
	experiment.NoObserver
	seen map[string]int
}

func (p phases) Progress(s load.Snapshot) { p.seen[s.Phase]++ }

// A budget is kept also where the server never becomes idle, most of it is spent on stages, and the progress shows the
// wait.
func TestABusyServerDoesNotSpendTheBudget(t *testing.T) {
	t.Parallel()
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		const budget = 2 * time.Minute
		c, run := experimentWith(d, simtest.SameInAll(64, 16)), &rundir.Run{}
		var waited time.Duration
		shown := phases{seen: map[string]int{}}
		c.Idle, c.Budget, c.Points, c.Observer = busy(&waited), budget, 4, shown
		began := time.Now()
		if err := Sweep(t.Context(), c, run); err != nil {
			t.Fatal(err)
		}
		took := time.Since(began)
		if took > budget+budget/100 || waited > budget/4 || run.State != rundir.Complete || run.Saturation == nil {
			t.Errorf("took %v of %v, of which %v for an idle server; %s after %d stages, saturation %+v", took, budget, waited,
				run.State, len(run.Stages), run.Saturation)
		}
		if shown.seen[load.PhaseIdle] == 0 {
			t.Error("the wait was not shown")
		}
	})
}

// A server that is always busy is waited for less and less.
func TestWaitsForABusyServerShorten(t *testing.T) {
	t.Parallel()
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		c := experimentWith(d, simtest.SameInAll(64, 16))
		var waited time.Duration
		c.Idle, c.Warmup = busy(&waited), experiment.Warmup{}
		var stages []experiment.Stage
		for n := range 20 {
			stages = append(stages, experiment.NewStage(arrival.Closed{Concurrency: n + 1}, 40, 0))
		}
		if err := Run(t.Context(), c, stages, &rundir.Run{}); err != nil {
			t.Fatal(err)
		}
		if waited < c.Drain || waited > 3*c.Drain {
			t.Errorf("waited %v before 19 stages", waited)
		}
	})
}
