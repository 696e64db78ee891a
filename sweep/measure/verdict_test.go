package measure

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
)

// drift returns growth with its interval, in per cent of the rate.
func drift(low, value, high float64) rundir.Drift { return growth(value/100, low/100, high/100) }

func TestVerdict(t *testing.T) {
	const stable, saturated, shedding, undecided = rundir.Stable, rundir.Saturated, rundir.Shedding, rundir.Undecided
	none, level, unclear, steep := rundir.Drift{}, drift(-2, 0, 2), drift(-3, 2, 7), drift(8, 10, 12)
	for _, c := range []struct {
		name      string
		backlog   rundir.Drift
		lasting   bool
		waits     rundir.Drift
		completed float64     // tokens per second, of 100 offered
		failures  failedShare // of 1000 requests
		want      rundir.Verdict
	}{
		{"nothing known", none, false, none, 100, failedShare{}, undecided},
		{"level", level, false, none, 101, failedShare{}, stable},
		{"level, and completes less", level, true, level, 90, failedShare{}, stable},
		{"upper bound just below the tolerance", drift(-1, 2, 4.99), false, none, 101, failedShare{}, stable},
		{"upper bound at the tolerance", drift(-1, 2, 5), false, none, 101, failedShare{}, undecided},
		{"unclear", unclear, true, none, 90, failedShare{}, undecided},
		{"grows", steep, true, none, 90, failedShare{}, saturated},
		{"grows, and completes all", steep, true, none, 100, failedShare{}, undecided},
		{"grew, and stopped", steep, false, none, 90, failedShare{}, undecided},
		{"grows by more than the least", drift(0.1, 1.1, 2), true, none, 98, failedShare{}, saturated},
		{"grows by the least", drift(0.1, 1, 2), true, none, 98, failedShare{}, undecided},
		{"grows a little, beyond doubt", drift(0.5, 0.9, 1.3), true, none, 98, failedShare{}, undecided},
		{"lower bound of none", drift(0, 3, 4), true, none, 90, failedShare{}, stable},
		{"falls within the tolerance", drift(-8, -6, -4.99), false, none, 110, failedShare{}, stable},
		{"falls faster", drift(-8, -6, -5), false, none, 110, failedShare{}, undecided},
		{"waits grow", level, false, drift(2, 5, 8), 101, failedShare{}, saturated},
		{"waits grow by the least", level, false, drift(1, 5, 8), 101, failedShare{}, undecided},
		{"waits may grow", level, false, drift(0, 5, 8), 101, failedShare{}, stable},
		{"waits grow no faster than the backlog", drift(1, 4, 7), false, drift(4, 5, 6), 101, failedShare{}, undecided},
		{"waits alone", none, false, drift(4, 5, 6), 101, failedShare{}, undecided},

		{"few fail", level, false, none, 101, failedShare{failed: 30}, stable},
		{"5 % may fail", level, false, none, 101, failedShare{failed: 40}, undecided},
		{"5 % may be refused", level, false, none, 101, failedShare{failed: 60, refused: 60}, undecided},
		{"more are refused", level, false, none, 101, failedShare{failed: 90, refused: 90}, shedding},
		{"more fail", level, false, none, 101, failedShare{failed: 90}, undecided},
		{"more fail, some are refused", level, false, none, 101, failedShare{failed: 90, refused: 50}, undecided},
		{"all are refused", level, false, none, 101, failedShare{failed: 1000, refused: 1000}, shedding},
		{"all fail", level, false, none, 101, failedShare{failed: 1000}, undecided},
		{"unclear, and refused", unclear, false, none, 101, failedShare{failed: 90, refused: 90}, shedding},
		{"unclear, and few fail", unclear, false, none, 101, failedShare{failed: 1}, undecided},
		{"grows, and refused", steep, true, none, 90, failedShare{failed: 500, refused: 500}, saturated},
		{"two of 40 fail", level, false, none, 101, failedShare{failed: 2, ended: 40}, undecided},
		{"one of 150 fails", level, false, none, 101, failedShare{failed: 1, ended: 150}, undecided}, // refusals cluster
	} {
		e := evidence{backlog: c.backlog, lasting: c.lasting, waits: c.waits, offered: 100, completed: c.completed}
		c.failures.tolerance = DefaultTolerance
		if c.failures.ended == 0 {
			c.failures.ended = 1000
		}
		if got := c.failures.judge(e.verdict(DefaultTolerance)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

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
			a.timePerToken = total{n: 2, sum: 2, squares: 2 * (1 + varies*varies)}
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
