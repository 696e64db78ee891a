package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// jitter draws the random factors of step times. nil is none.
type jitter struct {
	sigma float64
	rng   *rand.Rand
}

// jitterStream is the stream of the seed's random numbers that the jitter has.
const jitterStream = 0

// newJitter returns the server's jitter; nil where it has none.
func newJitter(c MachineConfig) *jitter {
	if c.Jitter <= 0 {
		return nil
	}
	return &jitter{c.Jitter, rand.New(rand.NewPCG(c.Seed, jitterStream))}
}

// apply returns the time of the next step, which takes d without jitter. exp(N(-sigma^2/2, sigma)) has mean 1: jitter
// leaves the capacity alone.
func (j *jitter) apply(d time.Duration) time.Duration {
	if j == nil {
		return d
	}
	return time.Duration(float64(d) * math.Exp(j.sigma*j.rng.NormFloat64()-j.sigma*j.sigma/2))
}
