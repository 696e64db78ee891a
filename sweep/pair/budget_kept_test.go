package pair

import (
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// Comparisons of identical servers whose service times vary keep their budget, waits included, and seldom find a difference.
func TestComparisonsKeepTheirBudget(t *testing.T) {
	const overrun = 1.05
	kept, n, worst, differ, compared, waited := 0, simtest.SampleSize(8, 100), 0.0, 0, 0, 0.0
	for seed := range uint64(n) {
		budget := []time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, time.Minute}[seed%4]
		took, record, runs := noisyPair(t, seed, budget)
		share := took.Seconds() / budget.Seconds()
		if worst = max(worst, share); share <= overrun {
			kept++
		} else {
			t.Logf("seed %d: %v of %v, %d blocks", seed, took, budget, record.Blocks())
		}
		for _, run := range runs {
			for _, r := range run.Recoveries {
				waited += r.Waited.Value()
			}
		}
		if record.State != rundir.Complete {
			t.Logf("seed %d: %s in %v: %v", seed, record.State, budget, record.Failure)
			continue
		}
		compared++
		for _, r := range Rows(record, runs[0], runs[1]) {
			if r.ShownHolm {
				differ++
				t.Logf("seed %d: %s differs", seed, r.Key)
				break
			}
		}
	}
	if kept < n-n/100 {
		t.Errorf("%d of %d ended within %v of the budget; the worst took %.3f of it", kept, n, overrun, worst)
	}
	if compared < n*9/10 {
		t.Errorf("%d of %d have a result", compared, n)
	}
	simtest.Claim(t, "a comparison ends within 1.05 of its budget", "99 of 100", "%d of %d, at most %.3f; %d with a result, %d false differences, %.0f s waited", kept, n, worst, compared, differ, waited)
}

// noisyPair compares two noisy servers that are alike.
func noisyPair(t *testing.T, seed uint64, budget time.Duration) (took time.Duration, record *rundir.Pair, runs [2]*rundir.Run) {
	record, runs = &rundir.Pair{}, [2]*rundir.Run{{}, {}}
	synctest.Test(t, func(t *testing.T) {
		p := Config{Difference: 0.03, Budget: budget, Save: func(*rundir.Pair) error { return nil }}
		for i := range p.Sides {
			a := simtest.NewAttacker(2*seed + uint64(i))
			a.Sigma = 0.3
			a.Start()
			p.Sides[i] = sideWith(a)
			p.Sides[i].Idle = a.Idle
		}
		fitting, _, ok := FitStages(3*time.Second, budget, 0)
		if !ok {
			t.Fatal("the budget is too short")
		}
		p.Sides[0].StageTime, p.Sides[0].Seed = fitting, seed
		p.Sides[0].Sources = func(string) load.Source { return simtest.SameInAll(32, 16) }
		began := time.Now()
		if err := Run(t.Context(), p, runs, record); err != nil {
			t.Fatal(err)
		}
		took = time.Since(began)
	})
	return took, record, runs
}
