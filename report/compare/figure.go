package compare

import (
	"fmt"
	"math"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Figure is a metric of a configuration, or of one of its loads, and what is known of it.
type Figure struct {
	Key   string        `json:"key"`
	Value rundir.Number `json:"value"`              // of several measurements the lowest
	Most  rundir.Number `json:"most,omitzero"`      // the highest of them; absent where all agree
	Low   rundir.Number `json:"low,omitzero"`       // 95 % interval
	High  rundir.Number `json:"high,omitzero"`      //
	Open  bool          `json:"at_least,omitempty"` // the rows end before the plateau: it may be higher
	N     int           `json:"n,omitempty"`        // repeats; 0 where rows disagree, or one row decides
	// Burst is what the row throughput of a document printed, which sends all requests at once.
	Burst   rundir.Number `json:"throughput_row,omitzero"`
	Terms   string        `json:"terms,omitempty"` // of the SLO within which it holds, or that it is about
	Where   string        `json:"where,omitempty"` // the rows it rests on
	Doubted bool          `json:"doubted,omitempty"`
	Steep   bool          `json:"rows_apart,omitempty"` // read between rows that are too far apart for an interval
	se      float64       // standard error, NaN where there is none
}

func (f Figure) known() bool { return !f.Value.IsZero() }

// top is the highest that the figure may be.
func (f Figure) top() float64 {
	if f.Open {
		return math.Inf(1)
	}
	return f.Most.Or(f.Value.Value())
}

// text is the figure, or the lowest and the highest of several measurements, with one unit where they share it.
func (f Figure) text(print func(rundir.Number) table.Cell) lang.Text {
	low, high := print(f.Value), print(f.Most)
	switch {
	case f.Most.IsZero() || low.Whole() == high.Whole():
		return low.Whole()
	case low.Unit == high.Unit:
		low.Unit = ""
	}
	return low.Whole().Plus(lang.Same("-")).Plus(high.Whole())
}

func (f Figure) cell(print func(rundir.Number) table.Cell) table.Cell {
	cell := print(f.Value)
	if f.Most.Known() {
		cell = table.Cell{Text: f.text(print)}
	}
	switch {
	case f.Open:
		cell.Mark = markRising
	case f.Most.Known() && f.N == 0:
		cell.Mark = markDisagreement
	}
	if f.Doubted {
		cell.Mark += MarkDoubted
	}
	return cell
}

// rangeOf is what repeats show of a number.
func rangeOf(stages []*rundir.Stage, of func(*rundir.Stage) rundir.Number) (f Figure) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range stages {
		if v := of(s); v.Known() {
			low, high, f.N = min(low, v.Value()), max(high, v.Value()), f.N+1
		}
	}
	if f.Value = rundir.Exactly(low); high > low {
		f.Most = rundir.Exactly(high)
	}
	return f
}

// middle is the mean of one or two measurements.
func (f Figure) middle() float64 { return (f.Value.Value() + f.Most.Or(f.Value.Value())) / 2 }

// Change is how a figure differs from another: as a ratio minus 1, and of shares as their difference.
type Change struct {
	Setup string        `json:"setup,omitempty"`
	From  string        `json:"from,omitempty"`
	Key   string        `json:"key"`
	Ratio rundir.Number `json:"ratio,omitzero"` // absent where only its bounds are known
	Low   rundir.Number `json:"low,omitzero"`   // 95 % interval, or bounds; absent where there is no bound
	High  rundir.Number `json:"high,omitzero"`
	Shown *bool         `json:"shown,omitempty"` // by the interval; nil where there is none
	Bound bool          `json:"bound,omitempty"` // Low and High are what the rows leave open
	steep bool
}

// IsZero reports whether nothing is known of the change.
func (c Change) IsZero() bool { return c.Ratio.IsZero() && !c.Bound }

// change compares two figures, as far as they tell. Where a side is known to lie between two values, or above one, so
// is their ratio. Otherwise its interval is by the delta method on the logarithm: var ln(b/a) = (se(a)/a)^2 +
// (se(b)/b)^2.
func change(b, a Figure) Change {
	c := Change{Key: b.Key, steep: a.Steep || b.Steep}
	x, y := a.Value.Or(0), b.Value.Or(0)
	switch {
	case a.Terms != b.Terms || !a.Value.Known() || !b.Value.Known():
		return Change{}
	case isShare(b.Key):
		return c.within(y-x, stats.Z95*math.Hypot(a.se, b.se), func(v float64) float64 { return v })
	case x <= 0 || y <= 0:
		return Change{}
	}
	low, high := y/a.top(), b.top()/x
	if low == 0 && math.IsInf(high, 1) {
		return Change{}
	}
	if high > low*(1+1e-9) {
		if burst := burstRatio(b, a); burst < low || burst > high { // NaN is neither: then the ratio is between both
			low, high = min(y/x, burst), max(y/x, burst)
		}
		c.Bound, c.High = true, rundir.Exactly(high-1)
		if low > 0 {
			c.Low = rundir.Exactly(low - 1)
		}
		return c
	}
	return c.within(math.Log(y/x), stats.Z95*math.Hypot(a.se/x, b.se/y), math.Expm1)
}

// burstRatio is the ratio of the rows throughput, which is no bound; NaN where a side has none.
func burstRatio(b, a Figure) float64 {
	if r := b.Burst.Value() / a.Burst.Value(); r > 0 {
		return r
	}
	return math.NaN()
}

func (c Change) within(at, half float64, scale func(float64) float64) Change {
	if c.Ratio = rundir.Exactly(scale(at)); !math.IsNaN(half) {
		c.Low, c.High = rundir.Exactly(scale(at-half)), rundir.Exactly(scale(at+half))
		c.judge()
	}
	return c
}

func (c *Change) judge() {
	shown := c.Low.Value() > 0 || c.High.Value() < 0
	c.Shown = &shown
}

func (c Change) hidden() bool { return c.Shown != nil && !*c.Shown }

// mayBeEqual reports whether the sides may be alike: where no interval tells, a few per cent apart at most.
func (c Change) mayBeEqual() bool {
	if c.Bound {
		return c.Low.Known() && c.Low.Value() < equalTolerance && 1+c.High.Value() > 1/(1+equalTolerance)
	}
	return c.hidden() || c.Shown == nil && c.Ratio.Value() < equalTolerance
}

// equalTolerance is the relative difference up to which figures without intervals count as equal: single measurements
// of a minute repeat no better.
const equalTolerance = 0.05

// String is a change in per cent with its interval; ~ where the interval shows none.
func (c Change) String() string {
	unit := " %"
	if isShare(c.Key) {
		unit = " pp"
	}
	ends := percent(c.Low.Value()) + ".." + percent(c.High.Value())
	switch {
	case c.Bound && c.High.IsZero():
		return "> " + percent(c.Low.Value()) + unit
	case c.Bound && c.Low.IsZero():
		return "< " + percent(c.High.Value()) + unit
	case c.Bound:
		return ends + unit
	case c.Shown == nil:
		return percent(c.Ratio.Value()) + unit
	case !*c.Shown:
		return markNoDifference + " (" + ends + ")"
	}
	return percent(c.Ratio.Value()) + unit + " (" + ends + ")"
}

// times is the change as a factor: "1.5 x", "at least 1.5 x", "1.2 to 1.9 x".
func (c Change) times(l lang.Lang) string {
	low, high := times(c.Low), times(c.High)
	switch {
	case !c.Bound:
		return sayFactor.In(l, times(c.Ratio))
	case c.High.IsZero():
		return sayAtLeast.In(l, low)
	case c.Low.IsZero():
		return sayAtMost.In(l, high)
	}
	return sayFactor.In(l, sayTo.In(l, low, high))
}

func times(ratio rundir.Number) string { return fmt.Sprintf("%.2f", 1+ratio.Value()) }

// interval is the 95 % interval of a factor in words; empty where there is none.
func (c Change) interval(l lang.Lang) string {
	if c.Shown == nil {
		return ""
	}
	return sayInterval.In(l, times(c.Low), times(c.High))
}

func (c Change) better() bool { return (c.Ratio.Value() > 0) == HigherIsBetter(c.Key) }

func (c Change) verdict() table.Cell {
	switch {
	case c.Bound:
		return table.Cell{Text: lang.Both(c.times)}
	case c.Shown == nil:
		return table.Absent()
	case !*c.Shown:
		return table.Cell{Text: wordNoneShown.Text(), Tone: table.Faint}
	case c.better():
		return table.Cell{Text: WordBetter.Text(), Tone: table.Good}
	}
	return table.Cell{Text: WordWorse.Text(), Tone: table.Bad}
}

// Percent returns a ratio, minus 1, in per cent with its interval.
func Percent(ratio, low, high rundir.Number) string {
	return fmt.Sprintf("%s %% (%s..%s)", percent(ratio.Value()), percent(low.Value()), percent(high.Value()))
}

// percent is a signed percentage of three digits at most.
func percent(v float64) string {
	v *= 100
	switch {
	case math.Abs(v) < 0.05:
		return "0"
	case math.Abs(v) < 100:
		return fmt.Sprintf("%+.1f", v)
	}
	return fmt.Sprintf("%+.0f", v)
}
