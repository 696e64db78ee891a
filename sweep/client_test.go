package sweep

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// starved waits like a client whose machine has no time for it.
type starved struct{ late time.Duration }

func (s starved) Wait(until time.Time, quit <-chan struct{}) bool {
	select {
	case <-time.After(time.Until(until.Add(s.late))):
		return true
	case <-quit:
		return false
	}
}

// Stages that the client itself spoiled are invalid, and not part of the answer.
func TestAStarvedClientMarksItsRows(t *testing.T) {
	t.Parallel()
	for _, late := range []time.Duration{0, 80 * time.Millisecond} {
		simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
			c, run := experimentWith(d, simtest.SameInAll(64, 16)), &rundir.Run{}
			c.Waiter, c.Points, c.StageTime, c.StageMax = starved{late}, 3, 5*time.Second, 15*time.Second
			if err := Sweep(t.Context(), c, run); err != nil {
				t.Fatal(err)
			}
			for _, st := range run.Stages {
				spoiled := st.Rate.Known() && late > 0
				if (!st.Invalid.IsZero()) != spoiled {
					t.Errorf("%v late: %s is marked %q", late, st.Name, st.Invalid)
				}
				if spoiled && st.Invalid.Code != "client.sent-late" {
					t.Errorf("%q is not that requests were sent late", st.Invalid)
				}
			}
			if run.Client.Valid != (late == 0) {
				t.Errorf("%v late: the client is called fit: %v", late, run.Client.Valid)
			}
			if s := run.Saturation; late > 0 && s != nil && (s.LowestSaturated.Known() || s.HighestStable.Known()) {
				t.Errorf("rows that the client spoiled bracket the answer: %+v", s)
			}
		})
	}
}

// late sends some requests later than they are due, as a machine does that has too much to do.
type late struct {
	load.Doer
	from, to int64 // which requests, by number from 1
	n        atomic.Int64
}

func (l *late) Do(ctx context.Context, p *client.Prepared, res *client.Result) {
	if n := l.n.Add(1); n >= l.from && n <= l.to {
		time.Sleep(200 * time.Millisecond)
	}
	l.Doer.Do(ctx, p, res)
}

// The requests that fill a closed loop are due together and sent as fast as the machine can: that takes time, and
// spoils nothing. Later ones that are late do.
func TestTheFirstWaveOfAClosedLoopIsNeverLate(t *testing.T) {
	t.Parallel()
	const width = 40
	for name, c := range map[string]struct {
		from, to int64
		marked   bool
	}{"the first wave": {1, width, false}, "a later wave": {2*width + 1, 3 * width, true}} {
		simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
			cfg, run := experimentWith(&late{Doer: d, from: c.from, to: c.to}, simtest.SameInAll(16, 4)), &rundir.Run{}
			cfg.Warmup = experiment.Warmup{}
			stage := experiment.NewStage(arrival.Closed{Concurrency: width}, 5*width, 0)
			if err := Run(t.Context(), cfg, []experiment.Stage{stage}, run); err != nil {
				t.Fatal(err)
			}
			if got := run.Stages[0].Invalid; (got.Code == "client.sent-late") != c.marked {
				t.Errorf("%s is late: the row is marked %q", name, got)
			}
		})
	}
}

// A closed loop has all its connections before it begins, a search for the ceiling too; a rate has a bounded number of
// them.
func TestConnectionsAreOpenedAhead(t *testing.T) {
	t.Parallel()
	const width = 1000
	for name, c := range map[string]struct {
		load arrival.Load
		step bool
		want int
	}{
		"a closed loop":        {arrival.Closed{Concurrency: width}, false, width},
		"a step of the search": {arrival.Closed{Concurrency: width}, true, width},
		"a rate":               {arrival.Constant{Rate: 5000}, false, 256},
	} {
		simtest.Beside(t, simtest.Preset(t, "plain8"), func(t *testing.T, d load.Doer) {
			counting := &late{Doer: d}
			cfg := experimentWith(counting, simtest.SameInAll(16, 4)).Config
			opened, sent := 0, int64(0)
			cfg.Warm = func(_ context.Context, n int) error {
				opened, sent = n, counting.n.Load()
				return nil
			}
			x, err := experiment.Begin(cfg, &rundir.Run{}, rundir.Plan{})
			if err != nil {
				t.Fatal(err)
			}
			if err := x.WarmUp(t.Context()); err != nil { // the latency of a rate's requests
				t.Fatal(err)
			}
			warm, measure := counting.n.Load(), x.Measure
			if c.step {
				measure = x.Try
			}
			if _, err := measure(t.Context(), experiment.NewStage(c.load, 2*width, 0)); err != nil {
				t.Fatal(err)
			}
			if opened != c.want || sent != warm {
				t.Errorf("%s: %d connections opened after %d requests, want %d before it", name, opened, sent-warm, c.want)
			}
		})
	}
}
