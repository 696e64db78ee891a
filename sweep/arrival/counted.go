package arrival

import (
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Counted is Poisson arrivals whose number is known: by each of some instants as many have come due as the rate asks
// for, to the nearest. Given their number, the arrivals of a Poisson process between two instants are independent and
// uniform (Cox and Lewis 1966, section 2.2): so are these. After the last instant the process is free.
type Counted struct {
	Poisson
	By []time.Duration // since the stage's start, ascending, above 0
}

// Schedule returns the arrivals of a stage.
func (c Counted) Schedule(runSeed uint64, stage string) Schedule {
	return &counted{poisson: poisson{rate: c.Rate, rng: stats.Rand(runSeed, seedPurpose, stage)}, ends: c.By}
}

// counted draws uniform instants in ascending order, so that none has to be kept.
type counted struct {
	poisson   // its at is the last arrival, or the last of ends that has passed
	ends      []time.Duration
	sent      float64 // arrivals before the interval under way
	remaining float64 // arrivals until the end of the interval
	drawn     bool    // remaining is drawn
}

func (c *counted) Next() (time.Duration, bool) {
	for len(c.ends) > 0 {
		end := c.ends[0].Seconds()
		if !c.drawn {
			c.remaining, c.drawn = math.Round(c.rate*end)-c.sent, true
		}
		if c.remaining >= 1 {
			c.at += (end - c.at) * drawEarliest(c.remaining, c.rng)
			c.remaining, c.sent = c.remaining-1, c.sent+1
			return min(rundir.Duration(c.at), c.ends[0]), true
		}
		c.at, c.ends, c.drawn = end, c.ends[1:], false
	}
	return c.poisson.Next()
}

// drawEarliest draws the smallest of n independent uniform variables.
func drawEarliest(n float64, rng *rand.Rand) float64 {
	return -math.Expm1(math.Log1p(-rng.Float64()) / n)
}

// EvenInstants yields instants between two by which as many arrivals have come due as a rate asks for, to within half of
// one.
func EvenInstants(s Schedule, rate float64, from, limit time.Duration) iter.Seq[time.Duration] {
	const half = 0.5
	return func(yield func(time.Duration) bool) {
		at := from
		for n := 0.0; at < limit; n++ { // arrivals until at
			due, ok := s.Next()
			if !ok || due > limit {
				due = limit
			}
			if due <= at {
				continue
			}
			first, last := max(at, rundir.Duration((n-half)/rate)), rundir.Duration((n+half)/rate)
			if first < due && first <= last && !yield(first) {
				return
			}
			at = due
		}
	}
}
