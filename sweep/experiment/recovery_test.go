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

// A lone request is slow if it is slower than such requests were at the start, of which some are slower than others.
func TestSlowFrom(t *testing.T) {
	for _, c := range []struct{ alone, p95, want float64 }{{0.010, 0.0101, staysSlow}, {0.010, 0.013, 1.3}, {0, 0.013, staysSlow}} {
		x := &Experiment{}
		x.overloaded(&rundir.Stage{Role: rundir.Floor, TPOT: rundir.Dist{P95: rundir.Exactly(c.p95)}, InterToken: rundir.Exactly(c.alone)})
		if got := x.recovery.slowFrom(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v s per token alone, %v s at the 95th percentile: slow from %v times, want %v", c.alone, c.p95, got, c.want)
		}
	}
}
