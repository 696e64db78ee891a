package setup

import (
	"math"
	"slices"

	"llmsweep/report/findings"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/stats"
)

// Plateau is the most that a configuration was shown to serve.
type Plateau struct {
	Rate      rundir.Number // requests per second
	Low, High rundir.Number // 95 % interval; absent in what was read elsewhere
	Output    rundir.Number // tokens per second there
	Where     string
	// Most is the highest rate that a row completed, and MostOutput its output, where rows disagree on it: one fell
	// behind at a lower load; or the highest of the repeats of a row. Then the most that was shown is between Rate and
	// Most. Absent where they agree.
	Most, MostOutput rundir.Number
	Repeated         bool // Most is the highest of repeats
	// Doubted reports whether it rests on rows that the audit doubts.
	Doubted bool
	// Rising reports whether the rows end before the server does: it may take more.
	Rising bool
}

// What still counts as level: the ceiling search of a sweep stops at the same growth.
const (
	plateauGrowth = 0.05 // of what was served
	plateauShare  = 0.5  // of what was offered in addition
)

// Limits of published rows. What is in flight when a stage ends is missing in what it completed, so that a row falls
// behind where it completes less of what was offered than the part of the stage that is over before its last answers
// begin: 1 - latency / stage time. The number of arrivals is random: behindErrors standard deviations of it are
// allowed. Rows agree on the plateau within agreement.
const (
	behindErrors     = 2
	defaultStageTime = 120 // seconds, where the rows of a document do not show it
	agreement        = 0.15
)

// plateau is the run's own saturation where it was measured here, else the row that served the most.
func (s *Setup) plateau() Plateau {
	if a := saturation.AnswerOf(s.Run); a != nil && s.Run.Source == nil {
		p := Plateau{
			Rate: rundir.Exactly(a.Rate.Value()), Low: a.Low, High: a.High, Output: a.Output,
			Where: s.show(s.Path) + " saturation", Rising: a.Rate.Bound(),
		}
		switch a.Kind {
		case rundir.Unanswerable: // its rows are all that is known
		case rundir.AtMost:
			return Plateau{}
		case rundir.Between:
			length := math.NaN()
			for _, st := range s.Run.Stages {
				if st.Role == rundir.Hold {
					length = st.OutputTokens.Mean.Value()
				}
			}
			p.Rate, p.Most, p.Low, p.High = a.Low, a.High, rundir.Number{}, rundir.Number{}
			p.Output, p.MostOutput = rundir.Exactly(length*a.Low.Value()), rundir.Exactly(length*a.High.Value())
			return p
		default:
			return p
		}
	}
	if s.Run.Plan.Kind == rundir.KindUsers { // users who pause are no measure of the most requests per second
		return Plateau{}
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
	p := Plateau{
		Rate: rundir.Exactly(top.Served), Output: top.Stage.TokensPerS.Output, Where: top.Where,
		Doubted: s.Doubtful(&s.Rows[best]),
	}
	if len(top.Repeats) > 0 {
		_, p.Most = extremes(top.Repeats, completed)
		_, p.MostOutput = extremes(top.Repeats, output)
		p.Repeated = true
	}
	knee := s.knee()
	if knee < 0 { // no published rate is shown to be too high
		p.Rising = s.Run.Source != nil && top.Stage.Rate.Known() && top.Stage.Verdict == "" || s.rising(best)
		return p
	}
	low := knee
	for i := range s.Rows[:knee] {
		if s.Rows[i].Served > s.Rows[low].Served {
			low = i
		}
	}
	if r := s.Rows[low]; top.Served > (1+agreement)*r.Served {
		p.Most, p.MostOutput, p.Repeated = p.Rate, p.Output, false
		p.Rate, p.Output, p.Where = rundir.Exactly(r.Served), r.Stage.TokensPerS.Output, joinPlaces(r.Where, top.Where)
	}
	return p
}

// SetSaturation sets the saturation rate of a sweep that was read from a document to the plateau of its rows, which all
// commands tell: a lower bound where no row fell behind, and only an interval where the rows disagree.
func SetSaturation(run *rundir.Run) {
	if run.Source == nil || run.Plan.Kind != rundir.KindSweep {
		return
	}
	run.Saturation = nil
	switch p := Load([]Input{{Run: run}})[0].Plateau; {
	case !p.Rate.Known():
	case p.Most.Known():
		run.Saturation = &rundir.Saturation{Low: p.Rate, High: p.Most}
	case p.Rising:
		run.Saturation = &rundir.Saturation{Rate: rundir.Over(p.Rate.Value()), Output: p.Output}
	default:
		run.Saturation = &rundir.Saturation{Rate: p.Rate, Output: p.Output}
	}
}

// Burst is the output of the row throughput of a document, which sends all requests at once; absent beside rows of
// closed loops, and in what was measured here.
func (s *Setup) Burst() rundir.Number {
	if s.Run.Source != nil && s.OpenLoop() {
		for i := range s.Run.Stages {
			if st := s.Trusted(&s.Run.Stages[i]); st != nil && st.Role == rundir.Ceiling {
				return st.TokensPerS.Output
			}
		}
	}
	return rundir.Number{}
}

// ConcurrencyBound reports whether a bound on the requests in flight, and not the arrivals, sets the load of a published row:
// far less was completed than was asked for. Then it is a closed loop, and shows nothing of the most that the server
// can do.
func ConcurrencyBound(s *rundir.Stage) bool {
	return s.Source != nil && s.Rate.Known() && s.MaxConcurrency > 0 && s.Rates.Completed.Value() < boundShare*s.Rate.Value()
}

// boundShare is the share of the rate asked for up to which a bound holds requests back.
const boundShare = 0.5

// knee returns the first published row that fell knee its arrivals; -1 where there is none, or where the rows say
// themselves whether they did.
func (s *Setup) knee() int {
	if s.Run.Source == nil {
		return -1
	}
	return slices.IndexFunc(s.Rows, func(r Row) bool {
		offered, lasted := load(r.Stage), s.Run.Source.StageTime.Or(defaultStageTime)
		share := max(0, 1-r.Stage.Latency.Mean.Value()/lasted)
		return r.Stage.Rate.Known() && r.Stage.Latency.Mean.Known() && !ConcurrencyBound(r.Stage) && !r.Doubted &&
			r.Stage.Verdict == "" &&
			r.Served < share*offered-behindErrors*math.Sqrt(offered/lasted)
	})
}

// EstimateStageTime finds out from all rows of a document how long its stages lasted: with one time for all, the shares of
// the arrivals that the rows completed follow from their latencies. Half of the rows may have fallen behind.
func EstimateStageTime(runs []rundir.Run) {
	const fewest, shortest, longest, step = 8, 10, 3600, 1.02
	type row struct{ share, latency float64 }
	var rows []row
	for i := range runs {
		for j := range runs[i].Stages {
			s := &runs[i].Stages[j]
			offered, done := findings.Offered(s), s.Rates.Completed
			if runs[i].Source != nil && s.Rate.Known() && offered.Known() && done.Known() && !ConcurrencyBound(s) &&
				s.Latency.Mean.Value() > minLatency {
				rows = append(rows, row{done.Value() / offered.Value(), s.Latency.Mean.Value()})
			}
		}
	}
	if len(rows) < fewest {
		return
	}
	best, least := 0.0, math.Inf(1)
	apart := make([]float64, len(rows))
	for lasted := float64(shortest); lasted < longest; lasted *= step {
		for i, r := range rows {
			apart[i] = math.Abs(r.share - max(0, 1-r.latency/lasted))
		}
		slices.Sort(apart)
		if m := apart[len(apart)/2]; m < least {
			best, least = lasted, m
		}
	}
	for i := range runs {
		if runs[i].Source != nil {
			runs[i].Source.StageTime = rundir.Exactly(best)
		}
	}
}

// minLatency is how long requests last, in seconds, that tell how long their stage lasted.
const minLatency = 8

// rising reports whether what was served still grew where the rows end: by more than a sweep's search for the ceiling
// would stop at, or by more than half of what was offered in addition.
func (s *Setup) rising(best int) bool {
	last := len(s.Rows) - 1
	if v := s.Rows[best].Stage.Verdict; best < last || v == rundir.Saturated || v == rundir.Shedding {
		return false
	}
	if last == 0 || load(s.Rows[last-1].Stage) == 0 {
		return true // a single rate shows no plateau
	}
	a, b := s.Rows[last-1], s.Rows[last]
	grown := b.Served - a.Served
	offered := findings.Offered(b.Stage).Value() - findings.Offered(a.Stage).Value()
	if b.Stage.Rate.Known() && offered > 0 && grown > plateauShare*offered {
		return true
	}
	return grown > plateauGrowth*a.Served
}

// Point is a place on the curve: between two rows, or at one.
type Point struct {
	Low, High *Row
	Weight    float64 // of High; 0: the point is the row Low
	// Before and After are the rows next to Low and High; nil where there is none.
	Before, After *Row
	// rateSE is the standard error of the place itself, in requests per second; 0 where it is not known to have one.
	rateSE float64
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

// PointAtRate returns the first point at which a rate of requests per second is served; ok is false outside the rows, and
// below one that does not tell.
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
		p := Point{Low: low, High: high, Weight: (rate - low.Top) / (high.Top - low.Top)}
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
	// Steep reports that the metric differs so much between the two rows that its course between them is not known:
	// there is no SE.
	Steep bool
}

// maxBoundsRatio is how far apart, as a factor, the bounds of a metric between two rows may lie for it to have an interval there.
// Across the edge of saturation latency rises manyfold between two rows, and a place between them is not known
// (TestInterpolationAcrossTheEdge).
const maxBoundsRatio = 2

// MetricFunc picks a metric of a stage, and its 95 % interval where it has one.
type MetricFunc func(*rundir.Stage) (f rundir.Number, ci [2]float64, ok bool)

// Latency returns a latency at the point. Between two rows it is in the middle, by its logarithm, of the bounds that
// [Point.latencyBounds] returns. Where one of the rows is only a lower bound, so is the latency. The standard error is that of
// the two rows, of the place times the slope, and of the distance to the bounds, added as independent.
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
	if v.Steep = high > maxBoundsRatio*low; v.Steep || !aok || !bok {
		return v
	}
	course := math.Log(high/low) / 2 / stats.Z95
	slope := math.Log(b.Value()/a.Value()) / (p.High.Top - p.Low.Top)
	rows := math.Hypot((1-p.Weight)*standardError(aci)/a.Value(), p.Weight*standardError(bci)/b.Value())
	v.SE = v.Number.Value() * math.Hypot(math.Hypot(rows, slope*p.rateSE), course)
	return v
}

// MaxLatency returns the highest latency that the rows allow at the point: that of the straight line between them. Limits
// are found on that line.
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

// OutputRate returns an output at the point in tokens per second: linear between the two rows, since a server that keeps
// up gives what it is asked for. The standard error is that of the two rows, and of the place times the slope, added as
// independent.
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

// Share returns a share, of what rises with the load and may be 0, at the point: in the middle of the bounds that
// [Point.latencyBounds] returns. The standard error is that of the two rows, of the place times the slope, and of the distance
// to the bounds, added as independent.
func (p Point) Share(take MetricFunc) Value {
	a, aci, aok := take(p.Low.Stage)
	b, bci, bok := take(p.High.Stage)
	if !aok || !bok || p.Weight == 0 || p.Low == p.High {
		return p.Latency(take)
	}
	low, high := p.latencyBounds(take)
	rows := math.Hypot((1-p.Weight)*standardError(aci), p.Weight*standardError(bci))
	slope := (b.Value() - a.Value()) / (p.High.Top - p.Low.Top)
	return Value{Number: rundir.Exactly((low + high) / 2), SE: math.Hypot(math.Hypot(rows, slope*p.rateSE),
		(high-low)/2/stats.Z95)}
}

// standardError returns that of a value with a 95 % interval.
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

// outputInterval gives a rate of tokens the outputInterval interval of the stage's progress, which counts the same tokens.
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
