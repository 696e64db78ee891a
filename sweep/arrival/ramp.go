package arrival

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Ramp is a Poisson process whose rate rises or falls linearly, and ends.
type Ramp struct {
	From, To float64 // requests per second; not both 0
	Over     time.Duration
	Finite
}

// Kind returns "ramp".
func (Ramp) Kind() string { return "ramp" }

// Name returns "ramp@4.00", with the mean rate.
func (r Ramp) Name() string { return stageName(r.Kind(), r.MeanRate()) }

// MeanRate returns the mean of the first and the last rate.
func (r Ramp) MeanRate() float64 { return (r.From + r.To) / 2 }

// Validate returns what is wrong with the configuration, or nil.
func (r Ramp) Validate() error {
	var err error
	switch {
	case !(r.From >= 0 && r.To >= 0 && r.From+r.To > 0 && r.From <= maxRate && r.To <= maxRate):
		err = fmt.Errorf("a ramp goes between two rates from 0 to %.0f, not both 0", maxRate)
	case r.Over <= 0:
		err = errors.New("a ramp needs a duration above 0")
	}
	return errors.Join(err, validLimit(r.MaxConcurrency))
}

// Schedule returns the arrivals of a stage.
func (r Ramp) Schedule(runSeed uint64, stage string) Schedule {
	over := r.Over.Seconds()
	return &ramp{
		from: r.From, k: (r.To - r.From) / over, ends: r.MeanRate() * over, over: r.Over,
		rng: stats.Rand(runSeed, seedPurpose, stage),
	}
}

func (r Ramp) withOptions(o Options) (Load, error) {
	switch {
	case o.TimeScale > 0:
		return nil, errTimeScale
	case o.Rate != 0:
		return nil, errors.New("a ramp has its own rates: leave out --rate")
	case o.Window() == 0:
		return nil, errors.New("a ramp takes some time: give --duration")
	}
	r.Over, r.MaxConcurrency = o.Window(), o.MaxConcurrency
	return validated("--arrivals", r)
}

// readRamp reads 2-20. A minus may also be part of an exponent, so each is tried.
func readRamp(value string) (openLoad, bool) {
	for i := range value {
		if value[i] != '-' {
			continue
		}
		from, errFrom := strconv.ParseFloat(value[:i], 64)
		to, errTo := strconv.ParseFloat(value[i+1:], 64)
		if errFrom == nil && errTo == nil {
			return Ramp{From: from, To: to}, Ramp{From: from, To: to, Over: 1}.Validate() == nil
		}
	}
	return nil, false
}

// ramp maps arrivals of a Poisson process.
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
