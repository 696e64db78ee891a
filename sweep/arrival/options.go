package arrival

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options are loads as a command line asks for them: closed loops of several widths, or one open loop.
type Options struct {
	Concurrency []int // closed loops, one stage each
	// of an open loop: what poisson, constant, gamma:SHAPE, ramp:FROM-TO or trace:FILE; empty for Poisson
	Arrivals       string
	Rate           float64       // of an open loop, requests per second
	TimeScale      float64       // speed of a trace; 0 for as recorded, or as Rate says
	MaxConcurrency int           // of an open loop; 0 for no limit
	Requests       int           // of each stage; 0 where Duration decides
	Duration       time.Duration // of each stage; 0 for defaultDuration where Requests is 0 too
}

// defaultDuration is how long a stage measures where neither a number of requests nor a duration is given.
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
	if o.Requests > 0 && o.Duration > 0 && l.Kind() != kindRamp {
		return nil, errBoth
	}
	return []Load{l}, nil
}

var errBoth = errors.New("give --requests or --duration, not both")

func (o Options) closed() ([]Load, error) {
	var all []Load
	switch {
	case o.TimeScale > 0:
		return nil, errTimeScale
	case o.Requests > 0 && o.Duration > 0:
		return nil, errBoth
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

// open returns the open loop.
func (o Options) open() (Load, error) {
	l, err := parse(o.Arrivals)
	if err != nil {
		return nil, fmt.Errorf("--arrivals: %w", err)
	}
	return l.withOptions(o)
}

// openLoad is a load that parse reads.
type openLoad interface {
	Load
	// withOptions returns the load with the rate, duration and limit of the options, or what is wrong with them.
	withOptions(Options) (Load, error)
	// text returns the load as parse reads it.
	text() string
}

func (c Constant) withOptions(o Options) (Load, error) {
	c.Rate, c.MaxConcurrency = o.Rate, o.MaxConcurrency
	return o.checkRate(c)
}

func (p Poisson) withOptions(o Options) (Load, error) {
	p.Rate, p.MaxConcurrency = o.Rate, o.MaxConcurrency
	return o.checkRate(p)
}

func (g Gamma) withOptions(o Options) (Load, error) {
	g.Rate, g.MaxConcurrency = o.Rate, o.MaxConcurrency
	return o.checkRate(g)
}

// checkRate returns a load that needs a rate, or what is wrong with its rate.
func (o Options) checkRate(l openLoad) (Load, error) {
	switch {
	case o.TimeScale > 0:
		return nil, errTimeScale
	case o.Rate == 0:
		return nil, fmt.Errorf("--arrivals %s needs --rate", l.text())
	}
	return validated("--rate", l)
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

// validated returns a load, or what is wrong with it and the flag that says it.
func validated(flag string, l Load) (Load, error) {
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return l, nil
}

func (Constant) text() string { return kindConstant }
func (Poisson) text() string  { return KindPoisson }
func (g Gamma) text() string  { return fmt.Sprintf("gamma:%v", g.Shape) }
func (r Ramp) text() string   { return fmt.Sprintf("ramp:%v-%v", r.From, r.To) }
func (t Trace) text() string  { return "trace:" + t.File }

// errKinds lists the kinds of arrivals.
var errKinds = errors.New("write poisson, constant, gamma:SHAPE (gamma:0.5), ramp:FROM-TO in requests per " +
	"second (ramp:2-20), or trace:FILE")

// parse reads the kind of an open loop: poisson, constant, gamma:0.5, ramp:2-20 or trace:FILE. An empty text is
// Poisson. The rate, and the duration of a ramp, are not part of the text.
func parse(text string) (openLoad, error) {
	kind, value, hasValue := strings.Cut(text, ":")
	invalid := func() (openLoad, error) { return nil, fmt.Errorf("%q is not a kind of arrivals: %w", text, errKinds) }
	if needsValue := kind == kindGamma || kind == kindRamp || kind == kindTrace; hasValue != needsValue || hasValue &&
		value == "" {
		return invalid()
	}
	switch kind {
	case "", KindPoisson:
		return Poisson{}, nil
	case kindConstant:
		return Constant{}, nil
	case kindGamma:
		shape, err := strconv.ParseFloat(value, 64)
		if g := (Gamma{Rate: 1, Shape: shape}); err == nil && g.Validate() == nil {
			return Gamma{Shape: shape}, nil
		}
	case kindRamp:
		from, to, ok := parseRange(value)
		if r := (Ramp{From: from, To: to, Over: 1}); ok && r.Validate() == nil {
			return Ramp{From: from, To: to}, nil
		}
	case kindTrace:
		return Trace{File: value}, nil
	}
	return invalid()
}

// parseRange reads 2-20. A minus may also be part of an exponent, so each is tried.
func parseRange(s string) (from, to float64, ok bool) {
	for i := range s {
		if s[i] != '-' {
			continue
		}
		a, errA := strconv.ParseFloat(s[:i], 64)
		b, errB := strconv.ParseFloat(s[i+1:], 64)
		if errA == nil && errB == nil {
			return a, b, true
		}
	}
	return 0, 0, false
}
