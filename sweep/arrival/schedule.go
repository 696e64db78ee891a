// Package arrival says when requests are due. Each kind of load is a type with its own configuration: a closed loop,
// and constant, Poisson, gamma, ramp and trace arrivals, and those of recorded clients. It knows nothing of requests or
// servers.
package arrival

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Schedule yields the instants at which requests are due, as offsets from the stage's start that never go back. It is
// fixed before the stage begins and does not depend on what the server does: this makes a loop open. ok is false when
// no more are due.
type Schedule interface {
	Next() (due time.Duration, ok bool)
}

// constant is due every 1/rate seconds, the first at once.
type constant struct{ rate, n float64 }

// Next counts from the start each time, so that rounding errors do not add up.
func (c *constant) Next() (time.Duration, bool) {
	due := c.n / c.rate
	c.n++
	return rundir.Duration(due), true
}

// poisson has independent exponential gaps of mean 1/rate.
type poisson struct {
	rate, at float64
	rng      *rand.Rand
}

func (p *poisson) Next() (time.Duration, bool) {
	p.at += p.rng.ExpFloat64() / p.rate
	return rundir.Duration(p.at), true
}

// gamma has independent gaps of distribution Gamma(shape, scale).
type gamma struct {
	scale, shape float64 // seconds; none
	at           float64
	rng          *rand.Rand
}

func (g *gamma) Next() (time.Duration, bool) {
	g.at += g.scale * drawGamma(g.shape, g.rng)
	return rundir.Duration(g.at), true
}

// drawGamma draws from Gamma(shape, 1) by Marsaglia and Tsang, "A simple method for generating gamma variables", ACM
// TOMS 26 (2000): a transformed normal variable, sometimes rejected. Shapes below 1 follow their section 6:
// Gamma(shape+1) U^(1/shape).
func drawGamma(shape float64, rng *rand.Rand) float64 {
	if shape < 1 {
		return drawGamma(shape+1, rng) * math.Pow(1-rng.Float64(), 1/shape) // 1-U lies in (0, 1]
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		u := 1 - rng.Float64()
		if math.Log(u) < x*x/2+d*(1-v+math.Log(v)) {
			return d * v
		}
	}
}

// ramp is a Poisson process whose rate changes linearly, and ends.
//
// With rate(t) = from + k t, k = (to-from)/over, the expected number of arrivals by t is L(t) = from t + k t^2/2.
// Arrivals of a unit Poisson process s_1, s_2, ... are mapped through the inverse of L (Cinlar 1975), which is exact
// and needs no thinning: t = (sqrt(from^2 + 2 k s) - from) / k = 2 s / (from + sqrt(from^2 + 2 k s)). The second form
// also holds for k = 0 and loses no digits for a small k.
type ramp struct {
	from, k float64
	s, ends float64 // in expected arrivals
	over    time.Duration
	rng     *rand.Rand
}

func (r *ramp) Next() (time.Duration, bool) {
	if r.s >= r.ends {
		return r.over, false
	}
	r.s += r.rng.ExpFloat64()
	if r.s >= r.ends {
		return r.over, false
	}
	// At the very end of a falling ramp the root is 0, and may be a rounding error below.
	root := math.Sqrt(max(0, r.from*r.from+2*r.k*r.s))
	return min(rundir.Duration(2*r.s/(r.from+root)), r.over), true
}

// trace replays recorded offsets.
type trace struct {
	offsets []time.Duration
	speed   float64
	next    int
}

func (t *trace) Next() (time.Duration, bool) {
	if t.next == len(t.offsets) {
		return 0, false
	}
	at := t.offsets[t.next]
	t.next++
	if t.speed == 1 {
		return at, true // exact, also where a float64 has too few digits
	}
	return rundir.Duration(at.Seconds() / t.speed), true
}

// Opening returns when each of width slots of a closed loop is first filled, in ascending order: at random within a
// time, which should be that of one request. Requests that all begin at once stay in step: the server would prefill
// them together, wave after wave, which no arrivals make it do.
func Opening(width int, within time.Duration, runSeed uint64, stage string) []time.Duration {
	rng := stats.Rand(runSeed, "opening", stage)
	at := make([]time.Duration, width)
	for i := range at {
		at[i] = time.Duration(rng.Float64() * float64(within))
	}
	slices.Sort(at)
	return at
}
