package experiment

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
)

// chainOf returns an experiment on such a server, and a chained stage of some width and time.
func chainOf(t *testing.T, o Observer) (*Experiment, func(name string, width int, d time.Duration) Stage) {
	t.Helper()
	c := Config{Doer: simtest.TenTokens{}, Log: &store.Memory{}, Observer: o, Drain: time.Minute, MaxErrorRate: 0.5,
		Sources: func(string) load.Source { return simtest.SameInAll(1, 10) }, Tolerance: measure.DefaultTolerance}
	x, err := Begin(c, &rundir.Run{}, rundir.Plan{})
	if err != nil {
		t.Fatal(err)
	}
	return x, func(name string, width int, d time.Duration) Stage {
		s := c.Closed(name, rundir.Single, width, 0)
		s.Opening, s.Chained = nil, true
		s.Extent = measure.Extent{MinTime: d, MaxTime: d, Fixed: true}
		return s
	}
}

// A chained stage ends with its window, and its row is whole when its requests have ended, which the stage after it
// counts by its own clock.
func TestChainedRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, stage := chainOf(t, NoObserver{})
		measure := func(s Stage, ok ...int) {
			t.Helper()
			if _, err := x.Measure(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			for i, n := range ok {
				st := &x.run.Stages[i]
				if want := map[bool]rundir.State{true: rundir.Complete, false: rundir.Running}[n > 0]; st.State != want ||
					st.Requests.OK != n {
					t.Errorf("%s is %s after %s, with %d requests; want %s with %d", st.Name, st.State, s.Name, st.Requests.OK,
						want, n)
				}
			}
		}
		measure(stage("one", 4, 5500*time.Millisecond), 0)
		measure(stage("two", 1, 5*time.Second), 4, 0)       // its own request begins when those four end, after 4.5 s
		measure(stage("three", 1, 11*time.Second), 4, 1, 0) // its own after 9.5 s
		var ends []float64
		for r, err := range x.records(x.open[0]) {
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, r.End.Value())
		}
		if len(ends) != 1 || math.Abs(ends[0]-9.5) > 0.1 {
			t.Errorf("by the clock of the third, requests ended at %v", ends)
		}
		if err := x.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(x.open); n > 0 || x.last != nil {
			t.Errorf("%d stages are open after all are concluded", n)
		}
		for i, want := range []float64{20, 20, 11} { // output tokens, of those before too
			st := &x.run.Stages[i]
			if got := st.TokensPerS.Output.Or(0) * st.Window; st.State != rundir.Complete || math.Abs(got-want) > 1e-6 {
				t.Errorf("%s: %s, %.2f tokens in %v s, want %.2f", st.Name, st.State, got, st.Window, want)
			}
		}
		if one := &x.run.Stages[0]; math.Abs(one.Ended-5.5) > 0.3 {
			t.Errorf("the window of the first closed at %v", one.Ended)
		}
	})
}

// An interrupt keeps the row of a chained stage whose requests it cancels.
func TestAnInterruptKeepsAChainedRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, stage := chainOf(t, NoObserver{})
		ctx, cancel := context.WithCancelCause(t.Context())
		if _, err := x.Measure(ctx, stage("one", 4, 5500*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(2250*time.Millisecond, func() { cancel(ErrInterrupted) })
		if _, err := x.Measure(ctx, stage("two", 4, time.Minute)); !errors.Is(err, ErrInterrupted) {
			t.Errorf("ended with %v", err)
		}
		saved := x.config.Log.(*store.Memory).Run.Stages
		one, two := &saved[0], &saved[1]
		if got := one.TokensPerS.Output.Or(0) * one.Window; one.State != rundir.Complete || math.Abs(got-20) > 1e-6 ||
			one.Requests.Incomplete != 4 || two.State != rundir.Interrupted {
			t.Errorf("%s with %v tokens, %+v; then %s", one.State, got, one.Requests, two.State)
		}
	})
}

// stopper stops this program once.
type stopper struct {
	NoObserver
	done bool
}

func (s *stopper) Progress(now load.Snapshot) {
	if !s.done && now.Elapsed > time.Second {
		s.done = true
		time.Sleep(3 * time.Second)
	}
}

// A chained stage in which this program was stopped is repeated, on an empty server.
func TestAStopInAChainedStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, stage := chainOf(t, &stopper{})
		st, err := x.Measure(t.Context(), stage("one", 4, 12*time.Second))
		if err := errors.Join(err, x.Flush(t.Context())); err != nil {
			t.Fatal(err)
		}
		all := x.run.Stages
		if len(all) != 2 || !measure.WasStopped(all[0].Invalid) || st.Name != "one"+AgainSuffix || !all[1].Invalid.IsZero() ||
			all[1].Started < all[0].Started+15 {
			t.Fatalf("%d stages, the first %v; %s began at %v", len(all), all[0].Invalid, st.Name, st.Started)
		}
	})
}
