package sweep

import (
	"math"
	"math/rand/v2"
	"time"
)

// Gamma has independent gamma-distributed gaps of mean 1/rate. A shape below 1 makes bursts and lulls, above 1 evens the
// arrivals out; 1 is Poisson. It is what vllm bench serve calls burstiness: its gaps are Gamma(shape, 1/(rate*shape)) too.
// The coefficient of variation of a gap is 1/sqrt(shape).
type Gamma struct {
	scale, shape float64 // seconds; none
	at           float64
	rng          *rand.Rand
}

// NewGamma returns a schedule of rate requests per second, both above 0. Seed and stage work as in [NewPoisson].
func NewGamma(rate, shape float64, seed uint64, stage string) *Gamma {
	return &Gamma{scale: 1 / (rate * shape), shape: shape, rng: NewRand(seed, "arrivals", stage)}
}

// Next draws the next gap.
func (g *Gamma) Next() (time.Duration, bool) {
	g.at += g.scale * gamma(g.shape, g.rng)
	return offset(g.at), true
}

// gamma draws from Gamma(shape, 1) by Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26
// (2000): a transformed normal, rejected now and then. Their section 6 has the shapes below 1: Gamma(shape+1) U^(1/shape).
func gamma(shape float64, rng *rand.Rand) float64 {
	if shape < 1 {
		return gamma(shape+1, rng) * math.Pow(1-rng.Float64(), 1/shape) // 1-U lies in (0, 1]
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

// Ramp is a Poisson process whose rate grows, or falls, linearly from one value to another, and ends there.
//
// With rate(t) = from + k t, k = (to-from)/over, the expected number of arrivals by t is L(t) = from t + k t^2/2. Arrivals
// of a unit Poisson process s_1, s_2, ... are mapped through the inverse of L (Cinlar 1975), which is exact and needs no
// thinning: t = (sqrt(from^2 + 2 k s) - from) / k = 2 s / (from + sqrt(from^2 + 2 k s)). The second form is good for k = 0
// and loses no digits for a small k.
type Ramp struct {
	from, k float64
	s, ends float64 // in expected arrivals
	over    time.Duration
	rng     *rand.Rand
}

// NewRamp returns a schedule that goes from one rate to another, in requests per second, within the given time. Rates are
// not negative and not both 0. Seed and stage work as in [NewPoisson].
func NewRamp(from, to float64, over time.Duration, seed uint64, stage string) *Ramp {
	span := over.Seconds()
	return &Ramp{
		from: from, k: (to - from) / span, ends: (from + to) / 2 * span, over: over,
		rng: NewRand(seed, "arrivals", stage),
	}
}

// Next draws the next arrival; ok is false from the ramp's end on.
func (r *Ramp) Next() (time.Duration, bool) {
	if r.s >= r.ends {
		return r.over, false
	}
	r.s += r.rng.ExpFloat64()
	if r.s >= r.ends {
		return r.over, false
	}
	// A falling ramp's root is 0 at its very end, and may be a rounding error below.
	root := math.Sqrt(max(0, r.from*r.from+2*r.k*r.s))
	return min(offset(2*r.s/(r.from+root)), r.over), true
}

// Trace replays recorded arrivals.
type Trace struct {
	offsets []time.Duration
	speed   float64
	next    int
}

// NewTrace returns a schedule of the offsets, which must not go back and are not copied. At a speed of 2 it plays twice as
// fast; speed is above 0.
func NewTrace(offsets []time.Duration, speed float64) *Trace {
	return &Trace{offsets: offsets, speed: speed}
}

// Next is the next recorded arrival; ok is false when all have been played.
func (t *Trace) Next() (time.Duration, bool) {
	if t.next == len(t.offsets) {
		return 0, false
	}
	at := t.offsets[t.next]
	t.next++
	if t.speed == 1 {
		return at, true // to the nanosecond, also where a float has too few digits
	}
	return offset(at.Seconds() / t.speed), true
}

// offset is seconds as a duration, the longest there is where that is too short.
func offset(s float64) time.Duration {
	if s >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return seconds(s)
}
