package compare

import (
	"fmt"
	"math"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Difference is how a figure after differs from the same figure before. Without a ratio nothing is known but its sides.
type Difference struct {
	Setup string        `json:"setup,omitempty"` // after
	From  string        `json:"from,omitempty"`  // the setup before
	Key   string        `json:"key"`
	Ratio rundir.Number `json:"ratio,omitzero"`  // after / before - 1; of shares after - before; or the bound
	Low   rundir.Number `json:"low,omitzero"`    // 95 % interval, or the ends that it is between
	High  rundir.Number `json:"high,omitzero"`   //
	Shown *bool         `json:"shown,omitempty"` // whether the interval excludes 0; nil where there is none
	// Bound is atLeast or atMost where a side is open, between where rows or repeats disagree.
	Bound string `json:"bound,omitempty"`

	before, after Figure
}

const (
	atLeast = "at-least"
	atMost  = "at-most"
	between = "between"
)

// differenceOf compares two figures as far as they tell. Where a side lies between two values, or above one, so does
// the ratio. Otherwise its interval is by the delta method: var ln(b/a) = (se(a)/a)^2 + (se(b)/b)^2.
func differenceOf(before, after Figure) Difference {
	d := Difference{Key: after.Key, before: before, after: after}
	x, y := before.Value.Or(0), after.Value.Or(0)
	switch {
	case before.Terms != after.Terms || !before.Value.Known() || !after.Value.Known():
		return d
	case isShare(after.Key):
		return d.within(y-x, stats.Z95*math.Hypot(before.se, after.se))
	case x <= 0 || y <= 0:
		return d
	}
	low, high := y/before.top(), after.top()/x
	switch {
	case low == 0 && math.IsInf(high, 1):
		return d
	case !(high > low*(1+1e-9)):
		return d.within(math.Log(y/x), stats.Z95*math.Hypot(before.se/x, after.se/y))
	}
	d.Ratio = rundir.Exactly(y/x - 1)
	switch burst := burstRatio(before, after); {
	case burst < low || burst > high: // it contradicts the ends (NaN does not): the ratio is between it and them
		return d.between(min(y/x, burst), max(y/x, burst))
	case low == 0:
		d.Ratio, d.Bound = rundir.Exactly(high-1), atMost
	case math.IsInf(high, 1):
		d.Ratio, d.Bound = rundir.Exactly(low-1), atLeast
	default:
		return d.between(low, high)
	}
	return d
}

// burstRatio is the ratio of the rows throughput, which is no bound; NaN where a side has none.
func burstRatio(before, after Figure) float64 {
	if r := after.Burst.Value() / before.Burst.Value(); r > 0 {
		return r
	}
	return math.NaN()
}

// within sets the ratio and, where its half width is known, its interval: both on the scale of logarithms, of shares as
// they are.
func (d Difference) within(at, half float64) Difference {
	scale := math.Expm1
	if isShare(d.Key) {
		scale = func(v float64) float64 { return v }
	}
	if d.Ratio = rundir.Exactly(scale(at)); !math.IsNaN(half) {
		d.Low, d.High = rundir.Exactly(scale(at-half)), rundir.Exactly(scale(at+half))
		d.judge()
	}
	return d
}

// between sets the ends of a ratio of which no more is known.
func (d Difference) between(low, high float64) Difference {
	d.Bound, d.Low, d.High = between, rundir.Exactly(low-1), rundir.Exactly(high-1)
	return d
}

func (d *Difference) judge() {
	shown := d.Low.Value() > 0 || d.High.Value() < 0
	d.Shown = &shown
}

// IsZero reports whether nothing is known of the difference.
func (d Difference) IsZero() bool { return d.Ratio.IsZero() }

// Name is the heading of the metric that differs.
func (d Difference) Name() lang.Text { return metricOf(d.Key).Heading() }

// Better reports whether the figure after is the better one.
func (d Difference) Better() bool { return (d.Ratio.Value() > 0) == HigherIsBetter(d.Key) }

func (d Difference) shown() bool  { return d.Shown != nil && *d.Shown }
func (d Difference) hidden() bool { return d.Shown != nil && !*d.Shown }

// undecided reports whether either side may be the higher one, because rows disagree.
func (d Difference) undecided() bool {
	return d.Bound == between && d.Low.Value() < 0 && d.High.Value() > 0
}

// equalTolerance is the relative difference up to which figures without intervals count as equal: single measurements
// of a minute repeat no better.
const equalTolerance = 0.05

// mayBeEqual reports whether the figure after, the higher one, may equal that before: where no interval tells, a few
// per cent apart at most.
func (d Difference) mayBeEqual() bool {
	switch {
	case d.Bound == between:
		return d.Low.Value() < equalTolerance && 1+d.High.Value() > 1/(1+equalTolerance)
	case d.Bound != "":
		return false
	}
	return d.hidden() || d.Shown == nil && d.Ratio.Value() < equalTolerance
}

// String is a difference in per cent with its interval; ~ where the interval shows none.
func (d Difference) String() string {
	unit, number := " %", func(n rundir.Number) string { return percent(n.Value()) }
	if isShare(d.Key) {
		unit = " pp"
	}
	if d.hidden() {
		return markNoDifference + " (" + number(d.Low) + ".." + number(d.High) + ")"
	}
	return d.text(number, "..", unit)
}

// factor is a difference as a factor in a cell: "1.50 x (1.40-1.60)", "> 1.50 x", "1.20-1.90 x".
func (d Difference) factor() string { return d.text(times, "-", " x") }

func (d Difference) text(number func(rundir.Number) string, to, unit string) string {
	ratio, ends := number(d.Ratio)+unit, number(d.Low)+to+number(d.High)
	switch {
	case d.Bound == atLeast:
		return "> " + ratio
	case d.Bound == atMost:
		return "< " + ratio
	case d.Bound == between:
		return ends + unit
	case d.Shown == nil:
		return ratio
	}
	return ratio + " (" + ends + ")"
}

// factorText is a difference as a factor in a sentence: "1.50 x", "at least 1.50 x", "1.20 to 1.90 x".
func (d Difference) factorText(l lang.Lang) string {
	switch d.Bound {
	case atLeast:
		return sayAtLeast.In(l, times(d.Ratio))
	case atMost:
		return sayAtMost.In(l, times(d.Ratio))
	case between:
		return sayFactor.In(l, sayTo.In(l, times(d.Low), times(d.High)))
	}
	return sayFactor.In(l, times(d.Ratio))
}

// intervalText is the 95 % interval of a factor in a sentence; empty where there is none.
func (d Difference) intervalText(l lang.Lang) string {
	if d.Shown == nil || d.Bound != "" {
		return ""
	}
	return sayInterval.In(l, times(d.Low), times(d.High))
}

func times(ratio rundir.Number) string { return fmt.Sprintf("%.2f", 1+ratio.Value()) }

// cell is a difference in per cent in a table.
func (d Difference) cell() table.Cell {
	if d.IsZero() {
		return table.Absent()
	}
	return table.Literal(d.String())
}

// verdict says what a difference means for users.
func (d Difference) verdict() table.Cell {
	switch {
	case d.Bound != "":
		return table.Cell{Text: lang.Both(d.factorText)}
	case d.Shown == nil: // also where nothing is known
		return table.Absent()
	case d.hidden():
		return table.Cell{Text: wordNoneShown.Text(), Tone: table.Faint}
	case d.Better():
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
