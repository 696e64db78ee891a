package setup

import (
	"math"
	"slices"

	"llmsweep/report/audit"
	"llmsweep/report/findings"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// Plateau is the most that a configuration was shown to serve.
type Plateau struct {
	Rate      rundir.Number // requests per second
	Low, High rundir.Number // 95 % interval; absent in what was read elsewhere
	Output    rundir.Number // tokens per second there
	Where     string
	// Most is the highest rate that a row or a repeat completed, and MostOutput its output, where rows disagree because
	// one fell behind at a lower load, or repeats differ: the plateau is between Rate and Most. Absent where they agree.
	Most, MostOutput rundir.Number
	Repeated         bool // Most is the highest of repeats
	Doubted          bool // it rests on rows that the audit doubts
	Rising           bool // the rows end before the server does: it may take more
}

// What still counts as level: the ceiling search of a sweep stops at the same growth.
const (
	plateauGrowth = 0.05 // of what was served
	plateauShare  = 0.5  // of what was offered in addition
)

// Limits of published rows. What is in flight when a stage ends is missing in what it completed: a row falls behind
// where it completes less than 1 - latency / stage time of what was offered, less behindErrors standard deviations of
// the random number of arrivals. Two rows agree on the plateau where they differ by no more than agreement.
const (
	behindErrors     = 2
	defaultStageTime = 120 // seconds, where the rows of a document do not show it
	agreement        = 0.15
)

// plateau is the run's own saturation where it was measured here, else the row that served the most.
func (s *Setup) plateau() Plateau {
	if a := saturation.AnswerOf(s.Run); a != nil && s.Run.Source == nil && a.Kind != rundir.Unanswerable {
		return s.measuredPlateau(a)
	}
	if s.Run.Plan.Kind == rundir.KindUsers { // users who pause are no measure of the most requests per second
		return Plateau{}
	}
	return s.rowPlateau()
}

func (s *Setup) measuredPlateau(a *rundir.Answer) Plateau {
	p := Plateau{
		Rate: rundir.Exactly(a.Rate.Value()), Low: a.Low, High: a.High, Output: a.Output,
		Where: s.show(s.Path) + " saturation", Rising: a.Rate.Bound(),
	}
	switch a.Kind {
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
	}
	return p
}

func (s *Setup) rowPlateau() Plateau {
	best := -1
	for i, r := range s.Rows {
		if load(r.Stage) > 0 && (best < 0 || r.Served > s.Rows[best].Served) {
			best = i
		}
	}
	if best < 0 {
		return Plateau{} // one at a time says nothing of a plateau
	}
	top := &s.Rows[best]
	p := Plateau{
		Rate: rundir.Exactly(top.Served), Output: top.Stage.TokensPerS.Output, Where: top.Where, Doubted: s.Doubtful(top),
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

// SetSaturation sets the saturation rate of a sweep of a document to the plateau of its rows: a lower bound where no
// row fell behind, and only an interval where the rows disagree.
func SetSaturation(run *rundir.Run) {
	if run.Source == nil || run.Plan.Kind != rundir.KindSweep {
		return
	}
	run.Saturation = nil
	p := Load([]Input{{Run: run}})[0].Plateau
	switch {
	case !p.Rate.Known():
	case p.Most.Known():
		run.Saturation = &rundir.Saturation{Low: p.Rate, High: p.Most}
	case p.Rising:
		run.Saturation = &rundir.Saturation{Rate: rundir.Over(p.Rate.Value()), Output: p.Output}
	default:
		run.Saturation = &rundir.Saturation{Rate: p.Rate, Output: p.Output}
	}
}

// Burst is the output of the row throughput of a document, which sends all requests at once; absent where the other
// rows are closed loops, and in what was measured here.
func (s *Setup) Burst() rundir.Number {
	if s.Run.Source != nil && s.OpenLoop() {
		for i := range s.Run.Stages {
			if st := audit.DropDoubted(&s.Run.Stages[i]); st != nil && st.Role == rundir.Throughput {
				return st.TokensPerS.Output
			}
		}
	}
	return rundir.Number{}
}

// ConcurrencyBound reports whether a bound on the requests in flight, and not the arrivals, sets the load of a
// published row: far less was completed than was asked for. It is then a closed loop, which shows no plateau.
func ConcurrencyBound(s *rundir.Stage) bool {
	return s.Source != nil && s.Rate.Known() && s.MaxConcurrency > 0 &&
		s.Rates.Completed.Value() < boundShare*s.Rate.Value()
}

// boundShare is the share of the rate asked for up to which a bound holds requests back.
const boundShare = 0.5

// knee returns the first published row that fell behind its arrivals; -1 where there is none, or where the rows say
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

// EstimateStageTime estimates how long the stages of a document lasted: with one time for all, the shares of the
// arrivals that the rows completed follow from their latencies. Half of the rows may have fallen behind.
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
	deviations := make([]float64, len(rows))
	for lasted := float64(shortest); lasted < longest; lasted *= step {
		for i, r := range rows {
			deviations[i] = math.Abs(r.share - max(0, 1-r.latency/lasted))
		}
		slices.Sort(deviations)
		if m := deviations[len(deviations)/2]; m < least {
			best, least = lasted, m
		}
	}
	for i := range runs {
		if runs[i].Source != nil {
			runs[i].Source.StageTime = rundir.Exactly(best)
		}
	}
}

// minLatency is the shortest latency, in seconds, that tells how long a stage lasted.
const minLatency = 8

// rising reports whether the rows end while what they serve still grows.
func (s *Setup) rising(best int) bool {
	last := len(s.Rows) - 1
	if v := s.Rows[best].Stage.Verdict; best < last || v == rundir.Saturated || v == rundir.Shedding {
		return false
	}
	if last == 0 || load(s.Rows[last-1].Stage) == 0 {
		return true // a single rate shows no plateau
	}
	a, b := &s.Rows[last-1], &s.Rows[last]
	grown := b.Served - a.Served
	offered := findings.Offered(b.Stage).Value() - findings.Offered(a.Stage).Value()
	if b.Stage.Rate.Known() && offered > 0 && grown > plateauShare*offered {
		return true
	}
	return grown > plateauGrowth*a.Served
}
