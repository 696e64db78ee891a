package sweep

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// overrun is by how much a budget may be exceeded.
const overrun = 1.05

// Sweeps of noisy servers keep their budget, waits included.
func TestSweepsKeepTheirBudget(t *testing.T) {
	kinds := map[string]func(context.Context, Config, *rundir.Run) error{
		"sweep": Sweep,
	}
	for name, measure := range kinds {
		kept, n, worst := 0, simtest.SampleSize(4, 100), 0.0
		for seed := range uint64(n) {
			budget := []time.Duration{30 * time.Second, time.Minute, 100 * time.Second, 4 * time.Minute}[seed%4]
			took := budgeted(t, seed, budget, measure)
			share := took.Seconds() / budget.Seconds()
			if worst = max(worst, share); share <= overrun {
				kept++
			} else {
				t.Logf("%s, seed %d: %v of %v", name, seed, took, budget)
			}
		}
		if kept < n-n/100 {
			t.Errorf("%s: %d of %d ended within %v of the budget; the worst took %.3f of it", name, kept, n, overrun, worst)
		}
		simtest.Claim(t, "a "+name+" ends within 1.05 of its budget", "99 of 100", "%d of %d, at most %.3f", kept, n, worst)
	}
}

// budgeted returns how long a sweep of a noisy server took.
func budgeted(t *testing.T, seed uint64, budget time.Duration, measure func(context.Context, Config,
	*rundir.Run) error) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		a := simtest.NewAttacker(seed)
		a.Sigma = 0.3
		if seed%8 >= 4 {
			a.Hangs = 0.01 // requests that outlive everything
		}
		a.Start()
		c := experimentWith(a, simtest.SameInAll(32, 16))
		c.Budget, c.Seed, c.MaxConcurrency = budget, seed, 512
		c.Idle = a.Idle
		began := time.Now()
		if err := measure(t.Context(), c, &rundir.Run{}); err != nil {
			t.Fatal(err)
		}
		took = time.Since(began)
	})
	return took
}
