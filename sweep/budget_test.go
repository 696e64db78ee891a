package sweep

import (
	"testing"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// A budget that is short for the server is kept, and the answer is right: a rate whose interval is narrow enough to plan with, or bounds. The search for
// the ceiling leaves time for it.
func TestShortBudgetsGiveBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seed   uint64
		budget time.Duration
		exact  bool // there is time for more than bounds
	}{
		{70009, 45 * time.Second, false}, {70001, 60 * time.Second, false}, {70001, 90 * time.Second, false}, {70003, 3 * time.Minute, true},
	} {
		k := &trial{Trial: simtest.Random(c.seed)}
		run := &rundir.Run{}
		var took time.Duration
		simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
			config := k.config(d, k.Seed)
			config.Budget = c.budget
			began := time.Now()
			if err := Sweep(t.Context(), config, run); err != nil {
				t.Fatal(err)
			}
			took = time.Since(began)
		})
		k.measure(t, 1, 60)
		truth, s := k.truth, run.Saturation
		if took > c.budget*101/100 {
			t.Errorf("%v: a budget of %v took %v", k, c.budget, took)
		}
		const off = 1.1 // of stages of a few seconds
		switch {
		case run.State != rundir.Complete || s == nil || s.Reason.IsZero():
			t.Errorf("%v in %v: %s, %+v", k, c.budget, run.State, s)
		case c.exact && !s.Rate.Known():
			t.Errorf("%v in %v: %+v, want a rate", k, c.budget, s)
		case s.Rate.Known() && (s.Low.Value() > off*truth || s.High.Value() < truth/off || s.High.Value()-s.Low.Value() > 0.4*s.Rate.Value()):
			t.Errorf("%v in %v: %.2f (%.2f-%.2f), but it sustains %.2f", k, c.budget, s.Rate.Value(), s.Low.Value(), s.High.Value(), truth)
		case s.Rate.Bound() && (s.Rate.Value() > off*truth || s.Rate.Value() < truth/10):
			t.Errorf("%v in %v: at least %.2f, but it sustains %.2f", k, c.budget, s.Rate.Value(), truth)
		case s.Rate.IsZero() && (s.Low.Value() > off*truth || s.High.Value() < truth/off):
			t.Errorf("%v in %v: %.2f-%.2f, but it sustains %.2f", k, c.budget, s.Low.Value(), s.High.Value(), truth)
		}
	}
}
