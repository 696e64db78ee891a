package arrival

import (
	"math/rand/v2"
	"time"

	"llmsweep/sweep/rundir"
)

const kindPoisson = "poisson"

// Poisson has independent exponential gaps of mean 1/Rate: arrivals of many users who do not know of each other.
type Poisson = Rated[exponential]

type exponential struct{}

func (exponential) String() string { return kindPoisson }

func (exponential) validate() error { return nil }

func (exponential) schedule(rate float64, rng *rand.Rand) Schedule {
	return &poisson{rate: rate, rng: rng}
}

type poisson struct {
	rate, at float64
	rng      *rand.Rand
}

func (p *poisson) Next() (time.Duration, bool) {
	p.at += p.rng.ExpFloat64() / p.rate
	return rundir.Duration(p.at), true
}
