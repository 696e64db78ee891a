package curve

import (
	"math"

	"llmsweep/report/stages"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Plateau is the most that a configuration was shown to serve.
type Plateau struct {
	Rate      rundir.Number // requests per second
	Low, High rundir.Number // 95 % interval; absent in what was read elsewhere
	Output    rundir.Number // tokens per second there
	Where     string
	// Rising reports whether the rows end before the server does: it may take more.
	Rising bool
}

// What still counts as level: the ceiling search of a sweep stops at the same growth.
const (
	levelGrowth = 0.05 // of what was served
	levelShare  = 0.5  // of what was offered in addition
)

// plateau is the run's own saturation where it was measured here, else the row that served the most.
func (s *Setup) plateau() Plateau {
	if sat := s.Run.Saturation; sat != nil && !sat.Rate.IsZero() {
		return Plateau{
			Rate: rundir.Exactly(sat.Rate.Value()), Low: sat.Low, High: sat.High, Output: sat.Output,
			Where: s.show(s.Path) + " saturation", Rising: sat.Rate.Bound(),
		}
	}
	best := -1
	for i, r := range s.Rows {
		if load(r.Stage) > 0 && (best < 0 || r.Served > s.Rows[best].Served) {
			best = i
		}
	}
	if best < 0 {
		return Plateau{} // one at a time says nothing of a plateau
	}
	top := s.Rows[best]
	return Plateau{
		Rate: rundir.Exactly(top.Served), Output: top.Stage.TokensPerS.Output, Where: top.Where, Rising: s.rising(best),
	}
}

// rising reports whether what was served still grew where the rows end: by more than a sweep's search for the ceiling would
// stop at, or by more than half of what was offered in addition.
func (s *Setup) rising(best int) bool {
	last := len(s.Rows) - 1
	if best < last {
		return false
	}
	if last == 0 || load(s.Rows[last-1].Stage) == 0 {
		return true // a single rate shows no plateau
	}
	a, b := s.Rows[last-1], s.Rows[last]
	grown := b.Served - a.Served
	offered := stages.Offered(b.Stage).Value() - stages.Offered(a.Stage).Value()
	if b.Stage.Rate.Known() && offered > 0 && grown > levelShare*offered {
		return true
	}
	return grown > levelGrowth*a.Served
}

// Point is a place on the curve: between two rows, or at one.
type Point struct {
	Low, High *Row
	Weight    float64 // of High; 0: the point is the row Low
	// spread is the standard error of the place itself, in requests per second; 0 where it is not known to have one.
	spread float64
}

// Alone is the row with one request at a time.
func (s *Setup) Alone() (Point, bool) {
	if len(s.Rows) == 0 || load(s.Rows[0].Stage) != 0 {
		return Point{}, false
	}
	return Point{Low: &s.Rows[0], High: &s.Rows[0]}, true
}

// AtShare returns the point at a share of the plateau.
func (s *Setup) AtShare(share float64) (Point, bool) {
	p := s.Plateau
	if !p.Rate.Known() {
		return Point{}, false
	}
	at, ok := s.Serving(share * p.Rate.Value())
	if p.Low.Known() && p.High.Known() {
		at.spread = share * (p.High.Value() - p.Low.Value()) / 2 / stats.Z95
	}
	return at, ok
}

// Serving returns the first point at which a rate of requests per second is served; ok is false outside the rows.
func (s *Setup) Serving(rate float64) (p Point, ok bool) {
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
		low := &s.Rows[i-1]
		return Point{Low: low, High: high, Weight: (rate - low.Top) / (high.Top - low.Top)}, true
	}
	return Point{}, false
}

// Where names the rows that the point rests on.
func (p Point) Where() string {
	if p.Weight == 0 || p.Low == p.High {
		return p.Low.Where
	}
	return p.Low.Where + ", " + p.High.Where
}

// Value is a metric with its standard error, NaN where it has none.
type Value struct {
	Number rundir.Number
	SE     float64
}

// Take picks a metric of a stage, and its 95 % interval where it has one.
type Take func(*rundir.Stage) (f rundir.Number, ci [2]float64, ok bool)

// At is a metric at the point: linear between the two rows. Where one of them is only a lower bound, so is the metric.
// The standard error is that of the two rows, and of the place times the slope, added as independent.
func (p Point) At(take Take) Value {
	a, aci, aok := take(p.Low.Stage)
	b, bci, bok := take(p.High.Stage)
	if a.IsZero() || b.IsZero() {
		return Value{SE: math.NaN()}
	}
	v := Value{Number: rundir.Exactly(a.Value() + p.Weight*(b.Value()-a.Value())), SE: math.NaN()}
	if a.Bound() || b.Bound() {
		v.Number = rundir.Over(v.Number.Value())
		return v
	}
	if !aok || !bok {
		return v
	}
	se := func(ci [2]float64) float64 { return (ci[1] - ci[0]) / 2 / stats.Z95 }
	if p.Weight == 0 || p.Low == p.High {
		v.SE = se(aci)
		return v
	}
	slope := (b.Value() - a.Value()) / (p.High.Top - p.Low.Top)
	v.SE = math.Hypot(math.Hypot((1-p.Weight)*se(aci), p.Weight*se(bci)), slope*p.spread)
	return v
}

// Output is the output of a stage in tokens per second.
func Output(s *rundir.Stage) (rundir.Number, [2]float64, bool) {
	ci, ok := relative(s.TokensPerS.Output, s.Progress)
	return s.TokensPerS.Output, ci, ok
}

// relative gives a rate of tokens the relative interval of the stage's progress, which counts the same tokens.
func relative(f rundir.Number, p rundir.Progress) ([2]float64, bool) {
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
