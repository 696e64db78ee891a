package sweep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// drawWide draws a plain server of any size: requests of 0.3 to 8 s, in 8 to 256 slots.
func drawWide(seed uint64) *oddTrial {
	rng := rand.New(rand.NewPCG(seed, 47))
	s := oddShape{Slots: int(8 * math.Pow(32, rng.Float64())), Service: 0.3 * math.Pow(8/0.3, rng.Float64())}
	rate := float64(s.Slots) / s.Service
	return &oddTrial{
		family: "wide", seed: seed, about: fmt.Sprintf("%d slots, %.2f s", s.Slots, s.Service), low: rate, high: rate,
		server: func() (load.Doer, func()) { return newOdd(s, seed), func() {} },
	}
}

// wideSeeds returns the seeds of as many wide servers: of a few everyday ones, those that few requests saturate.
func wideSeeds(everyday, full int) []uint64 {
	if !simtest.Full() {
		return []uint64{7, 12, 9}[:everyday]
	}
	seeds := make([]uint64, full)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	return seeds
}

// A sweep keeps to its budget, uses it, and answers with the best bracket of that time.
func TestBudgets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		budget        time.Duration
		located, held float64 // shares of the servers, and of the answers, at least
	}{{2 * time.Minute, 0, 0.9}, {3 * time.Minute, 0.6, 0.9}, {5 * time.Minute, 0.85, 0.9}, {8 * time.Minute, 0.9, 0.9},
		{12 * time.Minute, 0.97, 0.9}, {20 * time.Minute, 0.97, 0.9}} {
		full := 50
		fmt.Sscan(os.Getenv("FAMILYN"), &full)
		seeds := wideSeeds(2, full)
		o, used, n := &familyOutcome{}, 0.0, len(seeds)
		for _, seed := range seeds {
			k := drawWide(seed)
			run := k.sweep(t, func(config *Config) { config.Budget = c.budget })
			o.add(fmt.Sprintf("%v %d %s", c.budget, seed, k.about), run.Saturation, k.low, k.high, run)
			took := run.Stages[len(run.Stages)-1].EndsAt()
			used += took.Seconds() / c.budget.Seconds() / float64(n)
			if took > c.budget*101/100 {
				t.Errorf("%s: a budget of %v took %v", k.about, c.budget, took)
			}
			if run.Answer == nil || run.Answer.Kind == rundir.Unanswerable {
				t.Logf("%v %s: no answer", c.budget, k.about)
			}
		}
		for _, line := range o.lines {
			t.Log(line)
		}
		fmt.Println(o.summary(c.budget.String()), fmt.Sprintf("%.0f %% used", used*100))
		if simtest.Full() && (float64(o.answered) < c.located*float64(n) || float64(o.held) < c.held*float64(o.answered)) {
			t.Errorf("%v: %d of %d located, %d hold", c.budget, o.answered, n, o.held)
		}
	}
}
