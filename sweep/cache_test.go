package sweep

import (
	"context"
	"slices"
	"testing"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// emptying is a cache that takes a while to be emptied, and refuses some times.
type emptying struct {
	began   time.Time
	takes   time.Duration
	refuses []bool // by the number of the try; afterwards it does as asked
	at      []time.Duration
}

func (e *emptying) Empty(context.Context) note.Note {
	n := len(e.at)
	e.at = append(e.at, time.Since(e.began))
	time.Sleep(e.takes)
	if n < len(e.refuses) && e.refuses[n] {
		return note.Kind{Code: "probe.cache-engine", Args: []string{"engine"}}.New("Ollama")
	}
	return note.Note{}
}

// emptied runs stages with a cache that is emptied, and returns the run.
func emptied(t *testing.T, e *emptying, stages int) *rundir.Run {
	t.Helper()
	run := &rundir.Run{}
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		c := experimentWith(d, simtest.SameInAll(64, 16))
		c.Empty = e.Empty
		e.began = time.Now()
		var all []experiment.Stage
		for n := range stages {
			all = append(all, experiment.NewStage(arrival.Closed{Concurrency: n + 1}, 20, 0))
		}
		if err := Run(t.Context(), c, all, run); err != nil {
			t.Fatal(err)
		}
	})
	return run
}

// codes are the kinds of a run's warnings.
func codes(run *rundir.Run) (all []string) {
	for _, n := range run.Warnings {
		all = append(all, n.Code)
	}
	return all
}

// The cache is emptied before each row, after the warm-up, and the time that it takes belongs to none.
func TestTheCacheIsEmptiedBetweenRows(t *testing.T) {
	t.Parallel()
	e := &emptying{takes: 3 * time.Second}
	run := emptied(t, e, 3)
	if len(e.at) != 3 || !slices.Equal(codes(run), []string{"server.cache-emptied"}) {
		t.Fatalf("emptied at %v, warnings %v", e.at, run.Warnings)
	}
	ends := 0.0
	for i := range run.Stages {
		st := &run.Stages[i]
		if at := e.at[i].Seconds(); at < ends || at+e.takes.Seconds() > st.Started+1e-6 {
			t.Errorf("%s began at %v s, after one that ended at %v s; the cache was emptied from %v s on for %v",
				st.Name, st.Started, ends, at, e.takes)
		}
		if sent := st.OfWholeRun().Requests; sent.OK != 20 || st.Latency.Max.Value() > 1 {
			t.Errorf("%s: %+v, longest %v s", st.Name, sent, st.Latency.Max)
		}
		ends = st.Ended
	}
}

// A server that refuses is asked once more, and the run tells it once.
func TestACacheThatIsNotEmptied(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		refuses []bool
		tries   int
		want    []string
	}{
		"always":        {[]bool{true, true, true, true, true}, 2, []string{"server.cache-kept"}},
		"at first":      {[]bool{true}, 5, []string{"server.cache-kept", "server.cache-emptied"}},
		"now and again": {[]bool{false, true, false, true}, 4, []string{"server.cache-emptied", "server.cache-kept"}},
	} {
		e := &emptying{refuses: tt.refuses}
		run := emptied(t, e, 5)
		if len(e.at) != tt.tries || !slices.Equal(codes(run), tt.want) {
			t.Errorf("%s: %d tries, warnings %v; want %d and %v", name, len(e.at), codes(run), tt.tries, tt.want)
		}
		first := run.Stages[slices.Index(tt.refuses, true)].Name
		for _, n := range run.Warnings {
			if n.Code == "server.cache-kept" && (n.String("stage") != first || run.State != rundir.Complete) {
				t.Errorf("%s: %v in a run that is %s; want %s", name, n, run.State, first)
			}
		}
	}
}

// A sweep empties the cache before the steps of its search, too, and keeps to its budget. A run that goes on tells what
// the first part met.
func TestASweepThatEmptiesTheCache(t *testing.T) {
	t.Parallel()
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		const budget = 2 * time.Minute
		c, run := experimentWith(d, simtest.SameInAll(64, 16)), &rundir.Run{}
		e := &emptying{began: time.Now(), takes: time.Second, refuses: []bool{true}}
		c.Empty, c.Budget, c.Points = e.Empty, budget, 3
		began := time.Now()
		if err := Sweep(t.Context(), c, run); err != nil {
			t.Fatal(err)
		}
		took, rows, steps := time.Since(began), len(run.Stages), len(run.Search)
		if took > budget+budget/100 || len(e.at) != rows+steps || steps == 0 {
			t.Errorf("%d times for %d rows and %d steps, in %v of %v", len(e.at), rows, steps, took, budget)
		}
		c.Empty, c.Before, run.State = nil, run, rundir.Interrupted
		again := &rundir.Run{}
		if err := Sweep(t.Context(), c, again); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"server.cache-kept", "server.cache-emptied"} {
			if !slices.Contains(codes(again), want) {
				t.Errorf("the run that goes on has the warnings %v", codes(again))
			}
		}
	})
}

// An interrupt during the wait ends the run as any other does.
func TestAnInterruptWhileTheCacheIsEmptied(t *testing.T) {
	t.Parallel()
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		c, run := experimentWith(d, simtest.SameInAll(64, 16)), &rundir.Run{}
		ctx, cancel := context.WithCancelCause(t.Context())
		c.Empty = func(ctx context.Context) note.Note {
			cancel(experiment.ErrInterrupted)
			<-ctx.Done()
			return note.Kind{Code: "probe.cache-engine"}.New()
		}
		stage := experiment.NewStage(arrival.Closed{Concurrency: 1}, 5, 0)
		if err := Run(ctx, c, []experiment.Stage{stage}, run); err != nil {
			t.Fatal(err)
		}
		if run.State != rundir.Interrupted || len(run.Stages) > 0 || len(run.Warnings) > 0 {
			t.Errorf("%s with %d rows, %v", run.State, len(run.Stages), run.Warnings)
		}
	})
}
