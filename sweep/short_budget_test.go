package sweep

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// briefly sweeps a server of 22.86 req/s within a budget.
func briefly(t *testing.T, budget time.Duration, tune func(*Config, *simtest.Attacker)) *rundir.Run {
	t.Helper()
	run := &rundir.Run{}
	synctest.Test(t, func(t *testing.T) {
		a := simtest.NewAttacker(1)
		a.Start()
		c := experimentWith(a, simtest.SameInAll(32, 16))
		c.Budget, c.MaxConcurrency = budget, 512
		tune(&c, a)
		if err := Sweep(t.Context(), c, run); err != nil {
			t.Fatal(err)
		}
	})
	return run
}

// A short budget has stable rows at the loads that a server is run at, before it looks for the edge.
func TestAShortBudgetBeginsWithUsualLoads(t *testing.T) {
	for _, budget := range []time.Duration{60 * time.Second, 90 * time.Second} {
		run := briefly(t, budget, func(*Config, *simtest.Attacker) {})
		i := slices.IndexFunc(run.Stages, func(st rundir.Stage) bool { return st.Role == rundir.Ceiling })
		high := run.Stages[i].Progress.Rate.Value()
		for k, share := range usualShares() {
			st := &run.Stages[i+1+k]
			if math.Abs(st.Rate.Or(0)/high-share) > 1e-6 || st.Verdict == rundir.Saturated || !st.TTFT.Mean.Known() {
				t.Errorf("%v: row %d is %s, %s; want %.2f of %.2f req/s", budget, k, st.Name, st.Verdict, share, high)
			}
		}
		if s := run.Saturation; s == nil || !s.LowestSaturated.Known() {
			t.Errorf("%v: no rate was shown to be saturated: %+v", budget, s)
		}
	}
}

// The search for the ceiling ends where the server's gauges say that more in flight only wait.
func TestTheSearchHeedsTheGauges(t *testing.T) {
	last := func(gauges bool) string {
		run := briefly(t, 5*time.Minute, func(c *Config, a *simtest.Attacker) {
			if gauges {
				c.Scrape = a.Scrape
			}
		})
		return run.Search[len(run.Search)-1].Name
	}
	if with, without := last(true), last(false); with != SearchPrefix+"16" || without == with {
		t.Errorf("8 slots: the search ends with %s, without gauges with %s", with, without)
	}
}
