package measure

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"llmsweep/sweep/sample"
)

// ticked returns the account of a stage of which the ticks are known, of requests of one token that take a second.
func ticked(ticks sample.Ticks, rate float64) *Account {
	a := NewAccount(Criteria{Rate: rate, Tolerance: 0.05, LoneLatency: time.Second})
	a.ticks = ticks
	a.due, a.askedTokens, a.done, a.doneTokens = 1, 1, 1, 1
	return a
}

// The backlog of a server that is just as fast as is asked, and whose requests take times that vary, walks. A line
// takes that for growth more often than an error is allowed. What a fifth too many requests add is growth.
func TestAWalkIsNoGrowth(t *testing.T) {
	const trials, seconds, rate, walks = 200, 180, 10, 1.2
	growing := func(more, varies float64) (n int) {
		for seed := range uint64(trials) {
			rng := rand.New(rand.NewPCG(seed, 3))
			ticks, backlog := sample.Ticks{Width: time.Second}, 500.0
			for i := range seconds {
				done := rate/(1+more) + walks*math.Sqrt(rate)*rng.NormFloat64()
				backlog += rate - done
				ticks.Add(time.Duration(i+1)*time.Second, done, backlog)
			}
			a := ticked(ticks, rate)
			a.timePerToken = moments{n: 2, sum: 2, squares: 2 * (1 + varies*varies)}
			if e := a.evidence(Window{To: seconds * time.Second}, errorLevel); e.backlog.Low.Value() > 0 {
				n++
			}
		}
		return n
	}
	if n := growing(0, walks); n > 1.5*trials*errorLevel {
		t.Errorf("%d of %d walks count as growth", n, trials)
	}
	if n := growing(0, 0); n < 3*trials*errorLevel {
		t.Errorf("%d of %d walks count as growth by a line alone: the test shows nothing", n, trials)
	}
	if n := growing(0.2, walks); n < 0.9*trials {
		t.Errorf("%d of %d servers that are asked for a fifth more grow", n, trials)
	}
}
