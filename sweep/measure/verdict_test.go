package measure

import (
	"testing"

	"llmsweep/sweep/rundir"
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
