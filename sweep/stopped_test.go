package sweep

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// sleeper is an observer that stops the program once, in a stage.
type sleeper struct {
	experiment.NoObserver
	after, slept time.Duration
	done         bool
}

func (s *sleeper) Progress(now load.Snapshot) {
	if !s.done && now.Phase == load.PhaseMeasuring && now.Elapsed > s.after {
		s.done = true
		time.Sleep(s.slept)
	}
}

// TestAStoppedClientIsNamed: a stage in which this program did not run is measured once more, and neither the client
// nor the server is called slow.
func TestAStoppedClientIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		slept time.Duration
		rows  int
	}{{8 * time.Second, 2}, {900 * time.Millisecond, 1}} {
		var run rundir.Run
		simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
			config := experimentWith(d, simtest.SameInAll(64, 16))
			config.Observer, config.Warmup = &sleeper{after: 5 * time.Second, slept: c.slept}, experiment.Warmup{}
			stage := experiment.NewStage(arrival.Poisson{Rate: 2}, 0, 20*time.Second)
			if err := Run(t.Context(), config, []experiment.Stage{stage}, &run); err != nil {
				t.Fatal(err)
			}
		})
		if len(run.Stages) != c.rows || !run.Client.Valid {
			t.Fatalf("slept %v: %d rows, valid %v", c.slept, len(run.Stages), run.Client.Valid)
		}
		first, last := &run.Stages[0], &run.Stages[len(run.Stages)-1]
		if stopped := measure.WasStopped(first.Invalid); stopped != (c.rows == 2) ||
			hasNote(first, "client.stopped") != stopped {
			t.Errorf("slept %v: %v", c.slept, first.Invalid)
		}
		if !last.Invalid.IsZero() || last.Requests.OK == 0 {
			t.Errorf("slept %v: %s is invalid: %v", c.slept, last.Name, last.Invalid)
		}
	}
}

// TestASweepGoesOnAfterAStop: whichever stage of a sweep the stop falls into, the others are those of a sweep without
// it.
func TestASweepGoesOnAfterAStop(t *testing.T) {
	skipWithRaces(t)
	t.Parallel()
	sweep := func(at time.Duration) (names []string, rate float64) {
		var run rundir.Run
		simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
			config := experimentWith(d, simtest.SameInAll(64, 16))
			config.Points = 4
			config.Observer = &sleeper{after: at, slept: 8 * time.Second, done: at == 0}
			if err := Sweep(t.Context(), config, &run); err != nil {
				t.Fatal(err)
			}
		})
		again := 0
		for i := range run.Stages {
			if strings.HasSuffix(run.Stages[i].Name, experiment.AgainSuffix) {
				again++
			} else {
				names = append(names, string(run.Stages[i].Role))
			}
		}
		if want := min(1, int(at)); again != want {
			t.Errorf("stopped at %v: %d stages again", at, again)
		}
		return names, run.Saturation.Rate.Value()
	}
	want, truth := sweep(0)
	// in the floor, the grid and a hold
	for _, at := range []time.Duration{time.Second, 12 * time.Second, 30 * time.Second} {
		names, rate := sweep(at)
		if !slices.Equal(names, want) || math.Abs(rate/truth-1) > 0.1 {
			t.Errorf("stopped at %v: %v and %.2f req/s, want %v and %.2f", at, names, rate, want, truth)
		}
	}
}

// outages is a server that is away at times, which nothing listens for then.
type outages struct {
	load.Doer
	from, to time.Time
}

func (o outages) Do(ctx context.Context, p *client.Prepared, res *client.Result) {
	if now := time.Now(); now.After(o.from) && now.Before(o.to) {
		res.Fail(time.Since(res.Epoch), client.ClassConnect, "connection refused")
		return
	}
	o.Doer.Do(ctx, p, res)
}

// TestAServerThatComesBackIsNotSaturated: refused connections are no limit of a server that was started again. Its row
// is marked, repeated and left out of the answer.
func TestAServerThatComesBackIsNotSaturated(t *testing.T) {
	skipWithRaces(t)
	t.Parallel()
	sweep := func(from, length time.Duration) (run rundir.Run) {
		simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
			config := experimentWith(outages{d, time.Now().Add(from), time.Now().Add(from + length)}, simtest.SameInAll(64, 16))
			config.Points = 4
			if err := Sweep(t.Context(), config, &run); err != nil {
				t.Fatal(err)
			}
		})
		return run
	}
	truth := sweep(0, 0).Saturation.Rate.Value()
	for _, from := range []time.Duration{20 * time.Second, 40 * time.Second, 90 * time.Second} {
		run := sweep(from, 10*time.Second)
		away := 0
		for i := range run.Stages {
			st := &run.Stages[i]
			if n := st.Errors[string(client.ClassConnect)]; n > st.Requests.OK/10 {
				if away++; !measure.WasAway(st.Invalid) || st.Verdict == rundir.Shedding || !hasNote(st, "server.away") {
					t.Errorf("away after %v: %s: %v, %v", from, st.Name, st.Invalid, st.Verdict)
				}
			}
		}
		if rate := run.Saturation.Rate.Value(); math.Abs(rate/truth-1) > 0.1 || away == 0 || !run.Client.Valid {
			t.Errorf("away after %v: %.2f req/s, want %.2f; %d rows; client valid %v", from, rate, truth, away, run.Client.Valid)
		}
	}
}
