package arrival

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"llmsweep/sweep/stats"
)

// maxRate is more requests per second than any client sends.
const maxRate = 1e6

const seedPurpose = "arrivals" // their part of a run's seed

// Rated is an open loop at one rate: [Poisson], [Constant] or [Gamma], by the gaps between its arrivals.
type Rated[G gaps] struct {
	Rate           float64 // requests per second
	MaxConcurrency int     // most requests in flight; 0 for no limit
	Gaps           G
}

type gaps interface {
	String() string // as --arrivals has it: "gamma:0.5"
	validate() error
	schedule(rate float64, rng *rand.Rand) Schedule
}

// Kind returns the kind's name: "poisson", "constant" or "gamma".
func (r Rated[G]) Kind() string {
	kind, _, _ := strings.Cut(r.Gaps.String(), ":")
	return kind
}

// Name returns the kind and the rate: "gamma@4.00".
func (r Rated[G]) Name() string {
	kind := r.Kind()
	if kind == kindPoisson {
		kind = "asynchronous" // published tables call it so
	}
	return stageName(kind, r.Rate)
}

// MeanRate returns the rate.
func (r Rated[G]) MeanRate() float64 { return r.Rate }

// Limit returns the most requests in flight; 0 for no limit.
func (r Rated[G]) Limit() int { return r.MaxConcurrency }

// Ends reports false.
func (Rated[G]) Ends() bool { return false }

// Validate returns what is wrong with the configuration, or nil.
func (r Rated[G]) Validate() error {
	return errors.Join(r.Gaps.validate(), validRate(r.Rate), validLimit(r.MaxConcurrency))
}

// Schedule returns the arrivals of a stage.
func (r Rated[G]) Schedule(runSeed uint64, stage string) Schedule {
	return r.Gaps.schedule(r.Rate, stats.Rand(runSeed, seedPurpose, stage))
}

func (r Rated[G]) withOptions(o Options) (Load, error) {
	r.Rate, r.MaxConcurrency = o.Rate, o.MaxConcurrency
	switch {
	case o.TimeScale > 0:
		return nil, errTimeScale
	case o.Rate == 0:
		return nil, fmt.Errorf("--arrivals %s needs --rate", r.Gaps)
	}
	return validated("--rate", r)
}

// Finite is what open loops have in common whose arrivals end by themselves: [Ramp] and [Trace].
type Finite struct {
	MaxConcurrency int // most requests in flight; 0 for no limit
}

// Limit returns the most requests in flight; 0 for no limit.
func (f Finite) Limit() int { return f.MaxConcurrency }

// Ends reports true.
func (Finite) Ends() bool { return true }

func validRate(rate float64) error {
	if !(rate > 0 && rate <= maxRate) {
		return fmt.Errorf("a rate must be above 0 and at most %.0f requests per second, not %v", maxRate, rate)
	}
	return nil
}

func validLimit(n int) error {
	if n < 0 {
		return fmt.Errorf("at most %d requests in flight: the number must not be negative", n)
	}
	return nil
}
