package arrival

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Options are loads as a command line asks for them: closed loops of several widths, or one open loop.
type Options struct {
	Concurrency    []int         // closed loops, one stage each
	Arrivals       string        // the kind of an open loop, as gamma:0.5; empty for Poisson
	Rate           float64       // of an open loop, requests per second
	TimeScale      float64       // speed of a trace; 0 for as recorded, or as Rate says
	MaxConcurrency int           // of an open loop; 0 for no limit
	Requests       int           // of each stage; 0 where Duration decides
	Duration       time.Duration // of each stage; 0 for defaultDuration where Requests is 0 too
}

const defaultDuration = time.Minute

// Window returns how long each stage measures; 0 where the number of requests decides.
func (o Options) Window() time.Duration {
	if o.Duration == 0 && o.Requests == 0 {
		return defaultDuration
	}
	return o.Duration
}

// Loads returns the loads, in order, or what is wrong with the options. A [Trace] has its file and speed, but no
// offsets yet.
func (o Options) Loads() ([]Load, error) {
	open := o.Rate != 0 || o.Arrivals != ""
	switch {
	case open && len(o.Concurrency) > 0:
		return nil, errors.New("--concurrency is a closed loop and --rate an open one: give one of them " +
			"(--max-concurrency limits an open loop)")
	case !open && len(o.Concurrency) == 0 && o.MaxConcurrency > 0:
		return nil, fmt.Errorf("--max-concurrency limits an open loop (--rate R); to keep N requests in flight: "+
			"--concurrency %d", o.MaxConcurrency)
	case !open && len(o.Concurrency) == 0:
		return nil, errors.New("give a load: --concurrency N keeps N requests in flight, --rate R sends R requests " +
			"per second")
	case o.TimeScale < 0:
		return nil, errors.New("--time-scale must be above 0")
	case o.MaxConcurrency < 0 || o.MaxConcurrency > 0 && !open:
		return nil, errors.New("--max-concurrency limits an open loop (--rate), and is above 0")
	case o.Requests < 0 || o.Duration < 0:
		return nil, errors.New("--requests and --duration must be above 0")
	}
	if !open {
		return o.closed()
	}
	l, err := o.open()
	if err != nil {
		return nil, err
	}
	if _, ramp := l.(Ramp); o.Requests > 0 && o.Duration > 0 && !ramp {
		return nil, errTwoLimits
	}
	return []Load{l}, nil
}

var errTwoLimits = errors.New("give --requests or --duration, not both")

func (o Options) closed() ([]Load, error) {
	var all []Load
	switch {
	case o.TimeScale > 0:
		return nil, errTimeScale
	case o.Requests > 0 && o.Duration > 0:
		return nil, errTwoLimits
	case len(slices.Compact(slices.Sorted(slices.Values(o.Concurrency)))) != len(o.Concurrency):
		return nil, errors.New("--concurrency names a number twice")
	}
	for _, n := range o.Concurrency {
		c := Closed{n}
		if err := c.Validate(); err != nil {
			return nil, fmt.Errorf("--concurrency: %w", err)
		}
		all = append(all, c)
	}
	return all, nil
}

var errTimeScale = errors.New("--time-scale goes with --arrivals trace:FILE")

func (o Options) open() (Load, error) {
	l, err := parse(o.Arrivals)
	if err != nil {
		return nil, fmt.Errorf("--arrivals: %w", err)
	}
	return l.withOptions(o)
}

func validated(flag string, l Load) (Load, error) {
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return l, nil
}
