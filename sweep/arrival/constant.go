package arrival

import (
	"math/rand/v2"
	"time"

	"llmsweep/sweep/rundir"
)

// Constant has one arrival every 1/Rate seconds, the first at once.
type Constant = Rated[equal]

type equal struct{}

func (equal) String() string { return "constant" }

func (equal) validate() error { return nil }

func (equal) schedule(rate float64, _ *rand.Rand) Schedule { return &constant{rate: rate} }

type constant struct{ rate, n float64 }

// Next counts from the start each time, so that rounding errors do not add up.
func (c *constant) Next() (time.Duration, bool) {
	due := c.n / c.rate
	c.n++
	return rundir.Duration(due), true
}
