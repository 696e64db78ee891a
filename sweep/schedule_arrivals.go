package sweep

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Kinds of arrivals.
const (
	ArrivalsPoisson  = "poisson"
	ArrivalsConstant = "constant"
	ArrivalsGamma    = "gamma"
	ArrivalsRamp     = "ramp"
	ArrivalsTrace    = "trace"
)

// Arrivals say how requests come: what --arrivals was given.
type Arrivals struct {
	Kind     string
	Shape    float64 // of gamma
	From, To float64 // of a ramp, in requests per second
	File     string  // of a trace
}

// errArrivals lists what there is.
var errArrivals = errors.New("there are poisson, constant, gamma:SHAPE (gamma:0.5), ramp:FROM-TO in requests per second (ramp:2-20) and trace:FILE")

// ParseArrivals reads poisson, constant, gamma:0.5, ramp:2-20 or trace:FILE. The empty string is Poisson.
func ParseArrivals(s string) (Arrivals, error) {
	kind, value, given := strings.Cut(s, ":")
	a := Arrivals{Kind: kind}
	ok := !given
	switch kind {
	case "":
		a.Kind = ArrivalsPoisson
	case ArrivalsPoisson, ArrivalsConstant:
	case ArrivalsGamma:
		var err error
		a.Shape, err = strconv.ParseFloat(value, 64)
		ok = err == nil && a.Shape >= leastShape && a.Shape <= mostShape
	case ArrivalsRamp:
		a.From, a.To, ok = parseRamp(value)
	case ArrivalsTrace:
		a.File, ok = value, value != ""
	default:
		ok = false
	}
	if !ok {
		return Arrivals{}, fmt.Errorf("%q are no arrivals: %w", s, errArrivals)
	}
	return a, nil
}

// Outside of these a gamma schedule is one burst, or constant, and a float has too few digits for it.
const (
	leastShape = 0.001
	mostShape  = 1e6
)

// mostRate is more requests per second than any client makes.
const mostRate = 1e7

// parseRamp reads 2-20. A minus may also be part of an exponent, so each is tried.
func parseRamp(s string) (from, to float64, ok bool) {
	for i := range s {
		if s[i] != '-' {
			continue
		}
		a, errA := strconv.ParseFloat(s[:i], 64)
		b, errB := strconv.ParseFloat(s[i+1:], 64)
		if errA == nil && errB == nil {
			return a, b, a >= 0 && b >= 0 && a+b > 0 && a <= mostRate && b <= mostRate
		}
	}
	return 0, 0, false
}

// String is what [ParseArrivals] reads.
func (a Arrivals) String() string {
	switch a.Kind {
	case ArrivalsGamma:
		return fmt.Sprintf("gamma:%v", a.Shape)
	case ArrivalsRamp:
		return fmt.Sprintf("ramp:%v-%v", a.From, a.To)
	case ArrivalsTrace:
		return "trace:" + a.File
	}
	return a.Kind
}

// NeedsRate reports whether the schedule is nothing without a rate. A ramp has its own, and so has a trace.
func (a Arrivals) NeedsRate() bool { return a.Kind != ArrivalsRamp && a.Kind != ArrivalsTrace }

// MeanRate is the arrivals per second over the whole schedule when rate was asked for. A trace's is known to the trace
// alone.
func (a Arrivals) MeanRate(rate float64) float64 {
	if a.Kind == ArrivalsRamp {
		return (a.From + a.To) / 2
	}
	return rate
}

// Schedule makes the schedule of a stage: rate in requests per second, and over is how long a ramp takes. A trace makes its
// own, out of its file.
func (a Arrivals) Schedule(rate float64, over time.Duration, seed uint64, stage string) (Schedule, error) {
	if a.NeedsRate() && !(rate > 0 && rate <= mostRate) {
		return nil, fmt.Errorf("%v arrivals at %v requests per second: the rate must be above 0 and at most %g", a, rate, mostRate)
	}
	switch a.Kind {
	case ArrivalsPoisson:
		return NewPoisson(rate, seed, stage), nil
	case ArrivalsConstant:
		return NewConstant(rate), nil
	case ArrivalsGamma:
		return NewGamma(rate, a.Shape, seed, stage), nil
	case ArrivalsRamp:
		if over <= 0 || math.IsInf(over.Seconds(), 0) {
			return nil, fmt.Errorf("a ramp takes some time, not %v: give a duration", over)
		}
		return NewRamp(a.From, a.To, over, seed, stage), nil
	}
	return nil, fmt.Errorf("%v makes no schedule of itself", a)
}
