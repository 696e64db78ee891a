package arrival

import (
	"fmt"
	"strconv"

	"llmsweep/sweep/rundir"
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

// maxConcurrency is more connections than a client has ports for.
const maxConcurrency = 100_000

// Closed keeps a number of requests in flight: the next is due when one ends.
type Closed struct{ Concurrency int }

// Kind returns "concurrent".
func (Closed) Kind() string { return rundir.StageConcurrent }

// Name returns "concurrent@8".
func (c Closed) Name() string { return rundir.StageConcurrent + "@" + strconv.Itoa(c.Concurrency) }

// MeanRate returns 0: the server sets the rate.
func (Closed) MeanRate() float64 { return 0 }

// Limit returns the number kept in flight.
func (c Closed) Limit() int { return c.Concurrency }

// Ends reports false.
func (Closed) Ends() bool { return false }

// Validate returns what is wrong with the configuration, or nil.
func (c Closed) Validate() error {
	if c.Concurrency < 1 || c.Concurrency > maxConcurrency {
		return fmt.Errorf("a closed loop keeps between 1 and %d requests in flight, not %d", maxConcurrency, c.Concurrency)
	}
	return nil
}

// Schedule returns nil: a request is due whenever a slot is free.
func (Closed) Schedule(uint64, string) Schedule { return nil }

func stageName(kind string, rate float64) string { return kind + "@" + RateName(rate) }

// RateName returns a rate with two decimals, as published tables have it, and more where two would be too few.
func RateName(rate float64) string {
	decimals := 2
	for r := rate; r < 1 && decimals < 8; r *= 10 {
		decimals++
	}
	return strconv.FormatFloat(rate, 'f', decimals, 64)
}
