package experiment

import (
	"math"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// A pause of the server does not make a lone request slow; a server that is slow from token to token does, and so does one whose tokens
// come in bursts.
func TestUsualGap(t *testing.T) {
	const ms = time.Millisecond
	answer := func(gap, pause time.Duration, every int) *client.Result {
		r := &client.Result{}
		for i := range 20 {
			g := gap
			if i == 7 {
				g += pause
			}
			if every > 0 && i%every != 0 {
				g = 0
			}
			r.Gaps = append(r.Gaps, g)
			r.LastToken += g
		}
		return r
	}
	for name, c := range map[string]struct {
		res  *client.Result
		want float64
	}{
		"plain": {answer(10*ms, 0, 0), 0.010}, "pausing": {answer(10*ms, time.Second, 0), 0.010},
		"slow": {answer(17*ms, 0, 0), 0.017}, "in bursts": {answer(40*ms, 0, 4), 0.010},
	} {
		if got := usualGap(c.res, 21); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %v s, want %v", name, got, c.want)
		}
	}
}

// A lone request is slow if it is slower than one of such requests as at the start would be, of which some are slower than others.
func TestSlowFrom(t *testing.T) {
	for _, c := range []struct {
		n               int
		mean, std, want float64
	}{{10, 0.010, 0.0001, staysSlow}, {10, 0.010, 0.003, 1.608}, {3, 0.010, 0.003, 2.239}, {1, 0.010, 0, staysSlow}, {0, 0, 0, staysSlow}} {
		x := &Experiment{}
		st := rundir.Stage{Role: rundir.Floor, InterToken: rundir.Exactly(c.mean), TPOT: rundir.Dist{N: c.n, Mean: rundir.Exactly(c.mean), Std: rundir.Exactly(c.std)}}
		x.overloaded(&st)
		if got := x.recovery.slowFrom(); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%d requests of %v s per token with a deviation of %v s: slow from %v times, want %v", c.n, c.mean, c.std, got, c.want)
		}
	}
}

// A stage that is merely too short to be judged is no overload.
func TestOverloads(t *testing.T) {
	rate := rundir.Exactly(5)
	for _, c := range []struct {
		st   rundir.Stage
		want bool
	}{
		{rundir.Stage{Rate: rate, Verdict: rundir.Stable}, false},
		{rundir.Stage{Rate: rate, Verdict: rundir.Undecided}, false},
		{rundir.Stage{Rate: rate, Verdict: rundir.Undecided, Drift: rundir.Drift{Low: rundir.Exactly(-0.1)}}, false},
		{rundir.Stage{Rate: rate, Verdict: rundir.Undecided, Drift: rundir.Drift{Low: rundir.Exactly(0.1)}}, true},
		{rundir.Stage{Rate: rate, Verdict: rundir.Saturated}, true},
		{rundir.Stage{Rate: rate, Verdict: rundir.Shedding}, true},
		{rundir.Stage{Role: rundir.Ceiling, Verdict: rundir.Closed}, true},
	} {
		x := &Experiment{}
		c.st.Name = "x"
		x.overloaded(&c.st)
		if got := x.recovery.overload != ""; got != c.want {
			t.Errorf("%s %s, drift from %v: overload %v, want %v", c.st.Role, c.st.Verdict, c.st.Drift.Low, got, c.want)
		}
	}
}
