package arrival

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"llmsweep/sweep/rundir"
)

// maxSpeed plays a day in less than a millisecond.
const maxSpeed = 1e9

// Trace replays recorded arrivals.
type Trace struct {
	File    string          // where the arrivals were recorded
	Offsets []time.Duration // from the first arrival, ascending; not copied
	Speed   float64         // 2 plays twice as fast as recorded; 0 is 1
	Finite
}

// Kind returns "trace".
func (Trace) Kind() string { return "trace" }

// Name returns "trace@4.00", with the mean rate.
func (t Trace) Name() string { return stageName(t.Kind(), t.MeanRate()) }

// MeanRate returns the rate at which the trace is played. A trace of one instant counts as one second long.
func (t Trace) MeanRate() float64 {
	n := len(t.Offsets)
	if n < 2 || t.Offsets[n-1] == t.Offsets[0] {
		return float64(n) * t.speed()
	}
	return float64(n-1) / (t.Offsets[n-1] - t.Offsets[0]).Seconds() * t.speed()
}

func (t Trace) speed() float64 { return cmp.Or(t.Speed, 1) }

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

// Schedule returns the recorded arrivals.
func (t Trace) Schedule(uint64, string) Schedule { return &trace{offsets: t.Offsets, speed: t.speed()} }

func (t Trace) withOptions(o Options) (Load, error) {
	switch {
	case o.TimeScale > 0 && o.Rate > 0:
		return nil, errors.New("--time-scale and --rate both say how fast the trace is played: give one of them")
	case o.Rate < 0 || o.Rate > maxRate:
		return nil, fmt.Errorf("--rate: %w", validRate(o.Rate))
	}
	t.Speed, t.MaxConcurrency = o.TimeScale, o.MaxConcurrency
	return validated("--time-scale", t)
}

func readTrace(value string) (openLoad, bool) { return Trace{File: value}, true }

type trace struct {
	offsets []time.Duration
	speed   float64
	next    int
}

func (t *trace) Next() (time.Duration, bool) {
	if t.next == len(t.offsets) {
		return 0, false
	}
	at := t.offsets[t.next]
	t.next++
	if t.speed == 1 {
		return at, true // exact, also where a float64 has too few digits
	}
	return rundir.Duration(at.Seconds() / t.speed), true
}
