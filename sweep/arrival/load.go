package arrival

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Load is what a stage asks of a server: a number of requests kept in flight, or arrivals at their own times.
type Load interface {
	// Kind returns the kind's name, as run.json has it: "poisson".
	Kind() string
	// Name returns the name of a stage with this load: "constant@4.00".
	Name() string
	// MeanRate returns the arrivals per second, on average; 0 for a closed loop.
	MeanRate() float64
	// Limit returns the most requests in flight; 0 for no limit.
	Limit() int
	// Ends reports whether the arrivals end by themselves. All requests of such a stage count.
	Ends() bool
	// Validate returns what is wrong with the configuration, or nil.
	Validate() error
	// Schedule returns the arrivals of a stage; nil for a closed loop. The same seed and stage name repeat them, and
	// two stages of a run share no gaps.
	Schedule(runSeed uint64, stage string) Schedule
}

// Kinds of arrivals.
const (
	kindConstant = "constant"
	KindPoisson  = "poisson"
	kindGamma    = "gamma"
	kindRamp     = "ramp"
	kindTrace    = "trace"
)

// Closed keeps a number of requests in flight: the next is due when one ends.
type Closed struct{ Concurrency int }

// Constant has one arrival every 1/Rate seconds, the first at once.
type Constant struct {
	Rate           float64 // requests per second
	MaxConcurrency int     // most requests in flight; 0 for no limit
}

// Poisson has independent exponential gaps of mean 1/Rate: arrivals of many users who do not know of each other.
type Poisson struct {
	Rate           float64 // requests per second
	MaxConcurrency int     // most requests in flight; 0 for no limit
}

// Gamma has independent gamma-distributed gaps of mean 1/Rate, with a coefficient of variation of 1/sqrt(Shape). A
// shape below 1 gives bursts and lulls, above 1 more even arrivals; 1 is Poisson. vllm bench serve calls the shape
// burstiness: its gaps are Gamma(shape, 1/(rate*shape)) too.
type Gamma struct {
	Rate           float64 // requests per second
	Shape          float64
	MaxConcurrency int // most requests in flight; 0 for no limit
}

// Ramp is a Poisson process whose rate rises or falls linearly, and ends.
type Ramp struct {
	From, To       float64 // requests per second; not both 0
	Over           time.Duration
	MaxConcurrency int // most requests in flight; 0 for no limit
}

// Trace replays recorded arrivals.
type Trace struct {
	File           string          // where the arrivals were recorded
	Offsets        []time.Duration // from the first arrival, ascending; not copied
	Speed          float64         // 2 plays twice as fast as recorded; 0 is 1
	MaxConcurrency int             // most requests in flight; 0 for no limit
}

// Limits of the configuration.
const (
	maxConcurrency = 100_000 // more connections than a client has ports for
	maxRate        = 1e6     // requests per second: more than any client sends
	minShape       = 0.001   // below, gamma arrivals are one burst
	maxShape       = 1e6     // above, they are constant to the nanosecond
)

// Kind returns "concurrent".
func (Closed) Kind() string { return rundir.StageConcurrent }

// Kind returns "constant".
func (Constant) Kind() string { return kindConstant }

// Kind returns "poisson".
func (Poisson) Kind() string { return KindPoisson }

// Kind returns "gamma".
func (Gamma) Kind() string { return kindGamma }

// Kind returns "ramp".
func (Ramp) Kind() string { return kindRamp }

// Kind returns "trace".
func (Trace) Kind() string { return kindTrace }

// Name returns "concurrent@8".
func (c Closed) Name() string { return rundir.StageConcurrent + "@" + strconv.Itoa(c.Concurrency) }

// Name returns "constant@4.00".
func (c Constant) Name() string { return rateStageName(c) }

// Name returns "asynchronous@4.00", which published tables call such a stage.
func (p Poisson) Name() string { return "asynchronous@" + RateName(p.Rate) }

// Name returns "gamma@4.00".
func (g Gamma) Name() string { return rateStageName(g) }

// Name returns "ramp@4.00", with the mean rate.
func (r Ramp) Name() string { return rateStageName(r) }

// Name returns "trace@4.00", with the mean rate.
func (t Trace) Name() string { return rateStageName(t) }

func rateStageName(l Load) string { return l.Kind() + "@" + RateName(l.MeanRate()) }

// RateName returns a rate with two decimals, as published tables have it, and more where two would be too few.
func RateName(rate float64) string {
	decimals := 2
	for r := rate; r < 1 && decimals < 8; r *= 10 {
		decimals++
	}
	return strconv.FormatFloat(rate, 'f', decimals, 64)
}

// MeanRate returns 0: the server sets the rate.
func (Closed) MeanRate() float64 { return 0 }

// MeanRate returns the rate.
func (c Constant) MeanRate() float64 { return c.Rate }

// MeanRate returns the rate.
func (p Poisson) MeanRate() float64 { return p.Rate }

// MeanRate returns the rate.
func (g Gamma) MeanRate() float64 { return g.Rate }

// MeanRate returns the mean of the first and the last rate.
func (r Ramp) MeanRate() float64 { return (r.From + r.To) / 2 }

// MeanRate returns the rate at which the trace is played. A trace of one instant counts as one second long.
func (t Trace) MeanRate() float64 {
	n := len(t.Offsets)
	if n < 2 || t.Offsets[n-1] == t.Offsets[0] {
		return float64(n) * t.speed()
	}
	return float64(n-1) / (t.Offsets[n-1] - t.Offsets[0]).Seconds() * t.speed()
}

func (t Trace) speed() float64 {
	if t.Speed == 0 {
		return 1
	}
	return t.Speed
}

// Limit returns the number kept in flight.
func (c Closed) Limit() int { return c.Concurrency }

// Limit returns the most requests in flight; 0 for no limit.
func (c Constant) Limit() int { return c.MaxConcurrency }

// Limit returns the most requests in flight; 0 for no limit.
func (p Poisson) Limit() int { return p.MaxConcurrency }

// Limit returns the most requests in flight; 0 for no limit.
func (g Gamma) Limit() int { return g.MaxConcurrency }

// Limit returns the most requests in flight; 0 for no limit.
func (r Ramp) Limit() int { return r.MaxConcurrency }

// Limit returns the most requests in flight; 0 for no limit.
func (t Trace) Limit() int { return t.MaxConcurrency }

// Ends reports false.
func (Closed) Ends() bool { return false }

// Ends reports false.
func (Constant) Ends() bool { return false }

// Ends reports false.
func (Poisson) Ends() bool { return false }

// Ends reports false.
func (Gamma) Ends() bool { return false }

// Ends reports true.
func (Ramp) Ends() bool { return true }

// Ends reports true.
func (Trace) Ends() bool { return true }

// Validate returns what is wrong with the configuration, or nil.
func (c Closed) Validate() error {
	if c.Concurrency < 1 || c.Concurrency > maxConcurrency {
		return fmt.Errorf("a closed loop keeps between 1 and %d requests in flight, not %d", maxConcurrency, c.Concurrency)
	}
	return nil
}

// Validate returns what is wrong with the configuration, or nil.
func (c Constant) Validate() error {
	return errors.Join(validRate(c.Rate), validLimit(c.MaxConcurrency))
}

// Validate returns what is wrong with the configuration, or nil.
func (p Poisson) Validate() error {
	return errors.Join(validRate(p.Rate), validLimit(p.MaxConcurrency))
}

// Validate returns what is wrong with the configuration, or nil.
func (g Gamma) Validate() error {
	var shape error
	if !(g.Shape >= minShape && g.Shape <= maxShape) {
		shape = fmt.Errorf("the shape of gamma arrivals must be between %v and %v, not %v", minShape, maxShape, g.Shape)
	}
	return errors.Join(shape, validRate(g.Rate), validLimit(g.MaxConcurrency))
}

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

// Validate returns what is wrong with the configuration, or nil. Whether the file can be read is not looked at.
func (t Trace) Validate() error {
	var err error
	switch {
	case t.File == "" && len(t.Offsets) == 0:
		err = errors.New("a trace needs a file")
	case !(t.Speed >= 0 && t.Speed <= maxSpeed):
		err = fmt.Errorf("a trace is played at a speed above 0, and at most %g", maxSpeed)
	}
	return errors.Join(err, validLimit(t.MaxConcurrency))
}

// maxSpeed plays a day in less than a millisecond.
const maxSpeed = 1e9

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

// seedPurpose names the arrivals' part of a run's seed.
const seedPurpose = "arrivals"

// Schedule returns nil: a request is due whenever a slot is free.
func (Closed) Schedule(uint64, string) Schedule { return nil }

// Schedule returns the arrivals. They need no seed.
func (c Constant) Schedule(uint64, string) Schedule { return &constant{rate: c.Rate} }

// Schedule returns the arrivals of a stage.
func (p Poisson) Schedule(runSeed uint64, stage string) Schedule {
	return &poisson{rate: p.Rate, rng: stats.Rand(runSeed, seedPurpose, stage)}
}

// Schedule returns the arrivals of a stage.
func (g Gamma) Schedule(runSeed uint64, stage string) Schedule {
	return &gamma{scale: 1 / (g.Rate * g.Shape), shape: g.Shape, rng: stats.Rand(runSeed, seedPurpose, stage)}
}

// Schedule returns the arrivals of a stage.
func (r Ramp) Schedule(runSeed uint64, stage string) Schedule {
	over := r.Over.Seconds()
	return &ramp{
		from: r.From, k: (r.To - r.From) / over, ends: (r.From + r.To) / 2 * over, over: r.Over,
		rng: stats.Rand(runSeed, seedPurpose, stage),
	}
}

// Schedule returns the recorded arrivals.
func (t Trace) Schedule(uint64, string) Schedule { return &trace{offsets: t.Offsets, speed: t.speed()} }
