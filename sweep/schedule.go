package sweep

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"
)

// Schedule yields when requests are due, as offsets from the stage's start that never go back. It is fixed before the
// stage begins and never a function of what the server does: that is what makes a loop open. ok is false when no more
// are due.
type Schedule interface {
	Next() (due time.Duration, ok bool)
}

// Always is the schedule of a closed loop: a request is due whenever a slot is free.
type Always struct{}

// Next is always due at once.
func (Always) Next() (time.Duration, bool) { return 0, true }

// Constant is due every 1/rate seconds, the first at once.
type Constant struct {
	rate float64
	n    float64
}

// NewConstant returns a constant schedule of rate requests per second.
func NewConstant(rate float64) *Constant { return &Constant{rate: rate} }

// Next counts from the start each time, so that rounding never adds up.
func (c *Constant) Next() (time.Duration, bool) {
	due := c.n / c.rate
	c.n++
	return seconds(due), true
}

// Poisson has independent exponential gaps of mean 1/rate: arrivals of many users who know nothing of each other.
type Poisson struct {
	rate float64
	at   float64
	rng  *rand.Rand
}

// NewPoisson returns a Poisson schedule of rate requests per second. The stage's name is part of the seed, so that
// two stages of a run share no gaps, and the same run with the same seed repeats them.
func NewPoisson(rate float64, seed uint64, stage string) *Poisson {
	return &Poisson{rate: rate, rng: NewRand(seed, "arrivals", stage)}
}

// Next draws the next gap.
func (p *Poisson) Next() (time.Duration, bool) {
	p.at += p.rng.ExpFloat64() / p.rate
	return seconds(p.at), true
}

// NewRand is a generator of its own for each purpose and stage.
func NewRand(seed uint64, purpose, stage string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	h.Write([]byte{0})
	h.Write([]byte(stage))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// opening spreads the first requests of a closed loop at random over the time that one takes. Begun all at once they would
// stay in step: the server would prefill them all together, wave after wave, which no arrivals make it do.
func opening(width int, over time.Duration, rng *rand.Rand) []time.Duration {
	at := make([]time.Duration, width)
	for i := range at {
		at[i] = time.Duration(rng.Float64() * float64(over))
	}
	slices.Sort(at)
	return at
}
