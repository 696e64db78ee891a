package pair

import (
	"math"
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
	kept, n, worst, differ, compared, waited := 0, simtest.SampleSize(4, 100), 0.0, 0, 0, 0.0
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
	most := mostFalse(compared, level)
	if differ > most {
		t.Errorf("%d of %d pairs of identical servers differ; at most %d may", differ, compared, most)
	}
	simtest.Claim(t, "a comparison ends within 1.05 of its budget", "99 of 100", "%d of %d, at most %.3f; %d with a result, %.0f s waited", kept, n, worst, compared, waited)
	simtest.Claim(t, "identical noisy servers are called different within a budget", "at most 5 % of comparisons, and what chance adds once in 100 times", "%d of %d; at most %d may", differ, compared, most)
}

// mostFalse returns how many of n comparisons of identical servers may find a difference.
//
// A comparison states that it is wrong for identical servers with a probability of at most p = rate. Pairs of other seeds are independent, so that the
// number X of false differences has at most the binomial distribution of n and p:
//
//	P(X = k) = (n over k) p^k (1-p)^(n-k), and P(X = k+1) = P(X = k) (n-k)/(k+1) p/(1-p).
//
// The limit is the smallest k with P(X > k) <= 1 %: comparisons that keep their rate exceed it with one choice of seeds in a hundred at most.
func mostFalse(n int, rate float64) int {
	const chance = 0.01
	term := math.Pow(1-rate, float64(n)) // P(X = k)
	beyond := 1 - term                   // P(X > k)
	k := 0
	for ; beyond > chance; k++ {
		term *= float64(n-k) / float64(k+1) * rate / (1 - rate)
		beyond -= term
	}
	return k
}

// Limits by tables of the binomial distribution: of 20 with p = 0.05, more than 3 come with a probability of 1.6 %, more than 4 with 0.3 %.
func TestMostFalse(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 8: 2, 20: 4, 100: 11} {
		if got := mostFalse(n, 0.05); got != want {
			t.Errorf("of %d: %d, want %d", n, got, want)
		}
	}
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
