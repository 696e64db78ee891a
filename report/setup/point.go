package setup

import (
	"math"
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Point is a place on the curve: between two rows, or at one.
type Point struct {
	Low, High *Row
	Weight    float64 // of High; 0: the point is the row Low
	// Before and After are the rows next to Low and High; nil where there is none.
	Before, After *Row
	rateSE        float64 // standard error of the place itself, in requests per second; 0 where it has none
}

// SynchronousPoint is the row with one request at a time.
func (s *Setup) SynchronousPoint() (Point, bool) {
	if len(s.Rows) == 0 || load(s.Rows[0].Stage) != 0 {
		return Point{}, false
	}
	return Point{Low: &s.Rows[0], High: &s.Rows[0]}, true
}

// PointAtShare returns the point at a share of the plateau.
func (s *Setup) PointAtShare(share float64) (Point, bool) {
	p := s.Plateau
	if !p.Rate.Known() {
		return Point{}, false
	}
	at, ok := s.PointAtRate(share * p.Rate.Value())
	if p.Low.Known() && p.High.Known() {
		at.rateSE = share * (p.High.Value() - p.Low.Value()) / 2 / stats.Z95
	}
	return at, ok
}

// PointAtRate returns the first point at which a rate of requests per second is served; ok is false outside the rows,
// and below one that is not representative.
func (s *Setup) PointAtRate(rate float64) (p Point, ok bool) {
	if len(s.Rows) == 0 || rate < s.Rows[0].Top {
		return Point{}, false
	}
	for i := range s.Rows {
		high := &s.Rows[i]
		if high.Top < rate {
			continue
		}
		if i == 0 || high.Top == rate {
			return Point{Low: high, High: high}, true
		}
		if !high.representative() {
			return Point{}, false
		}
		low := &s.Rows[i-1]
		p = Point{Low: low, High: high, Weight: (rate - low.Top) / (high.Top - low.Top)}
		if i >= 2 {
			p.Before = &s.Rows[i-2]
		}
		if i+1 < len(s.Rows) {
			p.After = &s.Rows[i+1]
		}
		return p, true
	}
	return Point{}, false
}

// pointAtLoad returns the point at a load, and the row above it. Where there is none, that is nil, and the point is the
// last row or the one before that.
func (s *Setup) pointAtLoad(x float64) (p Point, above *Row) {
	at := slices.IndexFunc(s.Rows, func(r Row) bool { return load(r.Stage) > x })
	if at >= 0 {
		above = &s.Rows[at]
	} else {
		at = len(s.Rows) - 1
	}
	p = Point{Low: &s.Rows[max(at-1, 0)], High: &s.Rows[at]}
	if !p.High.representative() {
		p.High = p.Low
	}
	if low, high := load(p.Low.Stage), load(p.High.Stage); high > low {
		p.Weight = min(1, (x-low)/(high-low))
	}
	return p, above
}

// Where names the rows that the point rests on.
func (p Point) Where() string {
	if p.Weight == 0 || p.Low == p.High {
		return p.Low.Where
	}
	return joinPlaces(p.Low.Where, p.High.Where)
}

// Value is a metric with its standard error, NaN where it has none.
type Value struct {
	Number rundir.Number
	SE     float64
	Steep  bool // the metric differs too much between the two rows for an SE
}

// maxBoundsRatio is the largest ratio of the bounds of a metric between two rows with which it has an interval there.
// Latency rises manyfold from the last row below saturation to the next, and what it is between them is not known
// (TestInterpolationAcrossTheEdge).
const maxBoundsRatio = 2

// MetricFunc picks a metric of a stage, and its 95 % interval where it has one.
type MetricFunc func(*rundir.Stage) (f rundir.Number, ci [2]float64, ok bool)

// Latency returns a latency at the point: between two rows the geometric mean of the bounds of
// [Point.latencyBounds]; a lower bound where one of the rows is. The standard error is that of the two rows, of the
// place times the slope, and of the distance to the bounds, added as independent.
func (p Point) Latency(take MetricFunc) Value {
	a, aci, aok := take(p.Low.Stage)
	b, bci, bok := take(p.High.Stage)
	if a.IsZero() || b.IsZero() {
		return Value{SE: math.NaN()}
	}
	v := Value{Number: a, SE: math.NaN()}
	if p.Weight == 0 || p.Low == p.High {
		if aok && a.Known() {
			v.SE = standardError(aci)
		}
		return v
	}
	low, high := p.latencyBounds(take)
	v.Number = rundir.Exactly(math.Sqrt(low * high))
	if a.Bound() || b.Bound() {
		v.Number = rundir.Over(v.Number.Value())
		return v
	}
	v.Steep = high > maxBoundsRatio*low
	if v.Steep || !aok || !bok {
		return v
	}
	bounds := math.Log(high/low) / 2 / stats.Z95
	slope := math.Log(b.Value()/a.Value()) / (p.High.Top - p.Low.Top)
	rows := math.Hypot((1-p.Weight)*standardError(aci)/a.Value(), p.Weight*standardError(bci)/b.Value())
	v.SE = v.Number.Value() * math.Hypot(math.Hypot(rows, slope*p.rateSE), bounds)
	return v
}

// MaxLatency returns the highest latency that the rows allow at the point: that of the straight line between them.
// Limits are found on that line.
func (p Point) MaxLatency(take MetricFunc) rundir.Number {
	a, _, _ := take(p.Low.Stage)
	b, _, _ := take(p.High.Stage)
	if p.Weight == 0 || p.Low == p.High || !a.Known() || !b.Known() {
		return p.Latency(take).Number
	}
	_, high := p.latencyBounds(take)
	return rundir.Exactly(high)
}

// latencyBounds returns the bounds of a latency between two rows. Latency rises with the load, ever more steeply. It is
// therefore at most on the straight line between the rows; and at least that of the lower row, and on the lines that go
// on from the rows on either side. Where it falls by chance from one row to the next, it lies between the two.
func (p Point) latencyBounds(take MetricFunc) (low, high float64) {
	at := func(r *Row) float64 {
		v, _, _ := take(r.Stage)
		return v.Value()
	}
	a, b := at(p.Low), at(p.High)
	x := p.Low.Top + p.Weight*(p.High.Top-p.Low.Top)
	line := a + p.Weight*(b-a)
	if !(b > a) {
		return b, a
	}
	low, high = a, line
	if p.Before != nil && p.Before.Top < p.Low.Top {
		low = larger(low, a+(a-at(p.Before))/(p.Low.Top-p.Before.Top)*(x-p.Low.Top))
	}
	if p.After != nil && p.After.Top > p.High.Top {
		low = larger(low, b-(at(p.After)-b)/(p.After.Top-p.High.Top)*(p.High.Top-x))
	}
	// never beyond the upper row, where latency rises less steeply than before
	return min(low, high), min(max(low, high), b)
}

// larger returns the larger number, or a where b is NaN.
func larger(a, b float64) float64 {
	if b > a {
		return b
	}
	return a
}

// OutputRate returns an output at the point in tokens per second: linear between the two rows, since a server that
// keeps up gives what it is asked for. The standard error is that of the two rows, and of the place times the slope,
// added as independent.
func (p Point) OutputRate(take MetricFunc) Value {
	a, aci, aok := take(p.Low.Stage)
	b, bci, bok := take(p.High.Stage)
	if p.Weight == 0 || p.Low == p.High || !a.Known() || !b.Known() {
		return p.Latency(take)
	}
	v := Value{Number: rundir.Exactly(a.Value() + p.Weight*(b.Value()-a.Value())), SE: math.NaN()}
	if aok && bok {
		slope := (b.Value() - a.Value()) / (p.High.Top - p.Low.Top)
		v.SE = math.Hypot(math.Hypot((1-p.Weight)*standardError(aci), p.Weight*standardError(bci)), slope*p.rateSE)
	}
	return v
}

// Share returns a share, which rises with the load and may be 0, at the point: in the middle of the bounds of
// [Point.latencyBounds], with the standard error of [Point.Latency].
func (p Point) Share(take MetricFunc) Value {
	a, aci, aok := take(p.Low.Stage)
	b, bci, bok := take(p.High.Stage)
	if !aok || !bok || p.Weight == 0 || p.Low == p.High {
		return p.Latency(take)
	}
	low, high := p.latencyBounds(take)
	rows := math.Hypot((1-p.Weight)*standardError(aci), p.Weight*standardError(bci))
	slope := (b.Value() - a.Value()) / (p.High.Top - p.Low.Top)
	bounds := (high - low) / 2 / stats.Z95
	return Value{Number: rundir.Exactly((low + high) / 2), SE: math.Hypot(math.Hypot(rows, slope*p.rateSE), bounds)}
}

func standardError(ci [2]float64) float64 { return (ci[1] - ci[0]) / 2 / stats.Z95 }

// Output is the output of a stage in tokens per second.
func Output(s *rundir.Stage) (rundir.Number, [2]float64, bool) {
	ci, ok := outputInterval(s.TokensPerS.Output, s.Progress)
	return s.TokensPerS.Output, ci, ok
}

// Goodput is the output of a stage in tokens per second of the requests that keep the SLO.
func Goodput(s *rundir.Stage) (v rundir.Number, ci [2]float64, ok bool) {
	if s.Goodput == nil {
		return v, ci, false
	}
	ci, ok = outputInterval(s.Goodput.Tokens, s.Progress)
	return s.Goodput.Tokens, ci, ok
}

// outputInterval gives a rate of tokens the relative interval of the stage's progress, which counts the same tokens.
func outputInterval(f rundir.Number, p rundir.Progress) ([2]float64, bool) {
	if !f.Known() || !p.Rate.Known() || !p.Low.Known() || !p.High.Known() || p.Rate.Value() <= 0 {
		return [2]float64{}, false
	}
	k := f.Value() / p.Rate.Value()
	return [2]float64{k * p.Low.Value(), k * p.High.Value()}, true
}

// TTFT is the mean time to the first token.
func TTFT(s *rundir.Stage) (rundir.Number, [2]float64, bool) {
	ci, ok := s.TTFT.CI["mean"]
	return s.TTFT.Mean, ci, ok
}

// ITL is the mean gap between tokens, every token weighing the same.
func ITL(s *rundir.Stage) (rundir.Number, [2]float64, bool) {
	ci, ok := s.ITL.CI["mean"]
	if s.InterToken.IsZero() {
		return s.ITL.Mean, ci, ok
	}
	return s.InterToken, ci, ok
}
