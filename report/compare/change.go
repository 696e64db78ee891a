package compare

import (
	"math"
	"slices"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Change is the difference of one configuration from another in one metric.
type Change struct {
	Setup string        `json:"setup"`
	From  string        `json:"from"`
	Key   string        `json:"key"`
	Ratio rundir.Number `json:"ratio"`        // new to old, minus 1; of shares their difference
	Low   rundir.Number `json:"low,omitzero"` // 95 % interval
	High  rundir.Number `json:"high,omitzero"`
	Shown *bool         `json:"shown,omitempty"`
	// Bound is BoundLow or BoundHigh where one side is known as a lower bound, so that the ratio is a bound too: it has
	// no interval then.
	Bound string `json:"bound,omitempty"`
	steep bool   // see [Metric].Steep
}

// changes returns the differences of one setup from another. Where they did not have like hit rates, only what these do
// not change is compared.
func changes(m, from Configuration, like bool) []Change {
	var all []Change
	for _, key := range Keys() {
		if !like && !slices.Contains([]string{keyUsers, keyUsersPerGPU, keyUncached, KeyAccuracy, KeyErrors}, key) {
			continue
		}
		a, ok1 := from.Get(key)
		b, ok2 := m.Get(key)
		if !ok1 || !ok2 {
			continue
		}
		if c := change(b, a).boundPlateau(&m, &from, key); !c.Ratio.IsZero() {
			c.Setup, c.From, c.Key = m.Name, from.Name, key
			all = append(all, c)
		}
	}
	return all
}

// What is known of a ratio of which one side is a lower bound, or of which the rows of a side disagree.
const (
	BoundLow   = "at-least"
	BoundHigh  = "at-most"
	BoundRange = "between" // Low and High
)

// boundPlateau returns the change as a bound, without an interval, where a metric of the plateau is a lower bound on a
// side or its rows disagree; the zero change where nothing is known.
func (c Change) boundPlateau(m, from *Configuration, key string) Change {
	if key != keyRate && key != keyOutput && key != KeyPerGPU || c.Ratio.IsZero() {
		return c
	}
	r, plain := ratio(m, from, key)
	switch {
	case plain:
		return c
	case r.Bound == BoundLow:
		return Change{Ratio: rundir.Exactly(r.Low.Value() - 1), Bound: BoundLow}
	case r.Bound == BoundHigh:
		return Change{Ratio: rundir.Exactly(r.High.Value() - 1), Bound: BoundHigh}
	case r.Bound == BoundRange:
		return Change{Ratio: c.Ratio, Low: rundir.Exactly(r.Low.Value() - 1), High: rundir.Exactly(r.High.Value() - 1),
			Bound: BoundRange}
	}
	return Change{}
}

// Ratio is the ratio of two plateaus, as far as it is known.
type Ratio struct {
	Of    string        `json:"of"` // the values of what differs
	To    string        `json:"to"`
	Ratio rundir.Number `json:"ratio,omitzero"` // absent where there is only a bound
	Low   rundir.Number `json:"low,omitzero"`   // a bound, or the 95 % interval of Ratio
	High  rundir.Number `json:"high,omitzero"`
	// Bound is BoundLow, BoundHigh or BoundRange where there is no Ratio; empty too where nothing is known, as of two
	// lower bounds.
	Bound string `json:"bound,omitempty"`
}

// undecided reports whether either side may be the higher one, because rows disagree.
func (r Ratio) undecided() bool {
	return r.Bound == BoundRange && r.Low.Value() < 1 && r.High.Value() > 1
}

// ratio returns the bounds of a metric of b over that of a. It is plain where both are known: then there are none.
func ratio(b, a *Configuration, key string) (r Ratio, plain bool) {
	x, ok1 := a.Get(key)
	y, ok2 := b.Get(key)
	if !ok1 || !ok2 || !x.Value.Known() || !y.Value.Known() || x.Value.Value() <= 0 || y.Value.Value() <= 0 {
		return r, false
	}
	top := func(f Metric) float64 {
		switch {
		case f.AtLeast:
			return math.Inf(1)
		case f.Most.Known():
			return f.Most.Value()
		}
		return f.Value.Value()
	}
	low, high := y.Value.Value()/top(x), top(y)/x.Value.Value()
	// The ratio of the rows throughput is no bound. Where it contradicts the bounds, the ratio is between it and them.
	if burst := y.Burst.Or(0) / x.Burst.Or(math.NaN()); burst > 0 && high > low*(1+1e-9) && (burst < low || burst > high) {
		at := y.Value.Value() / x.Value.Value()
		return Ratio{Low: rundir.Exactly(min(at, burst)), High: rundir.Exactly(max(at, burst)), Bound: BoundRange}, false
	}
	r.Low, r.High = rundir.Exactly(low), rundir.Exactly(high)
	switch {
	case low == 0 && math.IsInf(high, 1):
		return Ratio{}, false
	case low == 0:
		r.Low, r.Bound = rundir.Number{}, BoundHigh
	case math.IsInf(high, 1):
		r.Bound = BoundLow
	case high > low*(1+1e-9):
		r.Bound = BoundRange
	default:
		return Ratio{}, true
	}
	return r, false
}

func memberRatio(of, to *Member) Ratio {
	r, plain := ratio(&of.config, &to.config, keyOutput)
	if plain {
		a, _ := to.config.Get(keyOutput)
		b, _ := of.config.Get(keyOutput)
		c := change(b, a)
		r.Ratio, r.Low, r.High = plusOne(c.Ratio), plusOne(c.Low), plusOne(c.High)
	}
	r.Of, r.To = of.Value, to.Value
	return r
}

// plusOne turns a relative change into a ratio. An absent one stays absent: it is NaN.
func plusOne(n rundir.Number) rundir.Number { return rundir.Exactly(n.Value() + 1) }

// change returns b/a - 1 with its interval by the delta method on the logarithm. The two are independent:
// var ln(b/a) = (se(a)/a)^2 + (se(b)/b)^2. Shares, which may be 0, are subtracted instead.
func change(b, a Metric) Change {
	if a.Terms != b.Terms {
		return Change{}
	}
	if isShare(b.Key) {
		return shareDifference(b, a)
	}
	if !a.Value.Known() || !b.Value.Known() || a.Value.Value() <= 0 || b.Value.Value() <= 0 {
		return Change{}
	}
	ratio := b.Value.Value() / a.Value.Value()
	c := Change{Ratio: rundir.Exactly(ratio - 1), steep: a.Steep || b.Steep}
	half := stats.Z95 * math.Hypot(a.se/a.Value.Value(), b.se/b.Value.Value())
	if math.IsNaN(half) {
		return c
	}
	return c.withInterval(ratio*math.Exp(-half)-1, ratio*math.Exp(half)-1)
}

func shareDifference(b, a Metric) Change {
	c := Change{Ratio: rundir.Exactly(b.Value.Value() - a.Value.Value())}
	half := stats.Z95 * math.Hypot(a.se, b.se)
	if math.IsNaN(half) {
		return c
	}
	return c.withInterval(c.Ratio.Value()-half, c.Ratio.Value()+half)
}

func (c Change) withInterval(low, high float64) Change {
	shown := low > 0 || high < 0
	c.Low, c.High, c.Shown = rundir.Exactly(low), rundir.Exactly(high), &shown
	return c
}

func (r Ratio) boundText(l lang.Lang) string {
	switch r.Bound {
	case BoundLow:
		return sayAtLeast.In(l, times(r.Low.Value()))
	case BoundHigh:
		return sayAtMost.In(l, times(r.High.Value()))
	}
	return sayFactor.In(l, sayTo.In(l, times(r.Low.Value()), times(r.High.Value())))
}
