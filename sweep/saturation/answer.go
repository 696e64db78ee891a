// The answer of a sweep as every report gives it: computed here once, from the saturation rate, the SLO and the rows.

package saturation

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// AnswerOf returns the answer of a run: the one that it came with, else the one that follows from its rows. It is nil
// for a run that answers no question of rates, and for results of another tool, which give none.
func AnswerOf(run *rundir.Run) *rundir.Answer {
	if run.Answer != nil || run.Saturation == nil && (run.Plan.Kind != rundir.KindSweep || run.Source != nil) {
		return run.Answer
	}
	return answerOf(run)
}

func answerOf(run *rundir.Run) *rundir.Answer {
	a := &rundir.Answer{Kind: answerKind(run.Saturation), Guess: ThroughputRate(run)}
	if sat := run.Saturation; sat != nil {
		a.Rate, a.Low, a.High, a.Output, a.Overload = sat.Rate, sat.Low, sat.High, sat.Output, sat.Overload
		a.Limit, a.LimitStage, a.LimitFlat, a.Quota = sat.Limit, sat.LimitStage, sat.LimitFlat, sat.Quota
	}
	rows := shownLoops(run.Stages)
	slices.SortStableFunc(rows, func(a, b *rundir.Stage) int { return cmp.Compare(slo.Offered(a), slo.Offered(b)) })
	if p := run.SLO; p != nil {
		a.Promise = &rundir.SLOAnswer{Terms: p.Terms, Verdict: p.Verdict, Rate: p.Rate, Low: p.Low, High: p.High}
	}
	a.Comfortable = comfortable(a, rows, run.Stages)
	switch a.Kind {
	case rundir.AtLeast, rundir.AtMost, rundir.Between, rundir.Unanswerable:
		if n := neededTime(run); n > run.Plan.Budget && run.Plan.Budget > 0 {
			a.Needed = rundir.Exactly(n)
		}
	}
	a.Cautions = topCautions(run)
	return a
}

func answerKind(s *rundir.Saturation) rundir.AnswerKind {
	switch {
	case s == nil || s.Rate.IsZero() && !s.High.Known():
		return rundir.Unanswerable
	case s.Rate.IsZero() && !s.Low.Known():
		return rundir.AtMost
	case s.Rate.IsZero():
		return rundir.Between
	case s.Rate.Bound():
		return rundir.AtLeast
	case s.Overload.Known():
		return rundir.Sustains
	case s.Reason.Is(noteRefused):
		return rundir.Accepts
	}
	return rundir.Saturates
}

// comfortableRate returns the rate that leaves room for a busy minute, and whether the SLO limits it; 0 where there is
// none.
func comfortableRate(a *rundir.Answer) (rate float64, bySLO bool) {
	if !a.Rate.Known() {
		return 0, false
	}
	rate = ComfortableShare * a.Rate.Value()
	p := a.Promise
	if p == nil {
		return rate, false
	}
	most := p.Rate
	if most.IsZero() {
		most = p.Low
	}
	if p.Verdict == rundir.Missed || most.IsZero() { // no rate is known to meet it
		return 0, true
	}
	if most.Value() < rate {
		return most.Value(), true
	}
	return rate, false
}

// IsAt reports whether a stage is at a rate, as far as rates differ.
func IsAt(st *rundir.Stage, rate float64) bool {
	return math.Abs(st.Rate.Value()/rate-1) < 2*rateTolerance
}

// Operating returns the stage that was measured to tell the latencies at a rate that is recommended: at this rate, as
// far as rates differ, or a little lower, since the answer may have risen since then. It is nil where there is none, and
// may still be running.
func Operating(stages []rundir.Stage, rate float64) (best *rundir.Stage) {
	const lower, higher = 0.9, 1 + 2*rateTolerance
	for i := range stages {
		st := &stages[i]
		if at := st.Rate.Or(0) / rate; st.Role == rundir.Probe && at > lower && at < higher && st.Invalid.IsZero() &&
			st.State != rundir.Interrupted && !slo.Overloaded(st) &&
			(best == nil || math.Abs(at-1) < math.Abs(best.Rate.Value()/rate-1)) {
			best = st
		}
	}
	return best
}

// comfortable returns the latencies at the comfortable rate, by the rows next to it: the highest at or below it, or the
// floor as the row with no load, and the lowest at or above it that is not overloaded. Beyond an overloaded row latency
// depends on how long that row lasted.
func comfortable(a *rundir.Answer, rows []*rundir.Stage, stages []rundir.Stage) *rundir.Comfortable {
	rate, bySLO := comfortableRate(a)
	if !(rate > 0) {
		return nil
	}
	var high *rundir.Stage
	low, from := synchronousStage(stages), 0.0
	if st := Operating(stages, rate); st != nil {
		low, high, rate = st, st, st.Rate.Value()
		rows = nil
	}
	for _, st := range rows {
		if st.Latency.Mean.IsZero() && st.TTFT.Mean.IsZero() { // too short for means
			continue
		}
		at := slo.Offered(st)
		if slo.Overloaded(st) && at <= a.Low.Or(0) { // a higher rate was held: this row was too short
			continue
		}
		if slo.Overloaded(st) && at <= rate {
			return nil
		}
		if at <= rate {
			low, from = st, at
		}
		if at >= rate {
			high = st
			break
		}
	}
	if low == nil || high == nil || slo.Overloaded(high) {
		return nil
	}
	c := &rundir.Comfortable{Rate: rundir.Exactly(rate), BySLO: bySLO, Stages: []string{low.Name, high.Name}}
	weight := 0.0
	if low == high {
		c.Stages = c.Stages[:1]
	} else {
		weight = (rate - from) / (slo.Offered(high) - from)
	}
	estimate := func(metric func(*rundir.Stage) rundir.Number) rundir.Number {
		return interpolate(metric(low), metric(high), weight)
	}
	c.TTFTMean = estimate(func(st *rundir.Stage) rundir.Number { return st.TTFT.Mean })
	c.TTFTP90 = estimate(func(st *rundir.Stage) rundir.Number { return st.TTFT.P90 })
	c.ITLMean = estimate(meanITL)
	c.LatencyMean = estimate(func(st *rundir.Stage) rundir.Number { return st.Latency.Mean })
	if !c.TTFTMean.Known() {
		c.LatencyP90 = estimate(func(st *rundir.Stage) rundir.Number { return st.Latency.P90 })
	}
	return c
}

// meanITL returns the mean gap between tokens, every token weighing the same, where it is known; zero gaps are none.
func meanITL(st *rundir.Stage) rundir.Number {
	itl := st.InterToken
	if itl.IsZero() {
		itl = st.ITL.Mean
	}
	if itl.Value() > 0 {
		return itl
	}
	return rundir.Number{}
}

// interpolate is linear in the logarithm: the result is never outside of the two. Where one of them is a lower bound,
// so is the result.
func interpolate(low, high rundir.Number, weight float64) rundir.Number {
	if low.IsZero() || high.IsZero() || low.Value() <= 0 || high.Value() <= 0 {
		return rundir.Number{}
	}
	v := low.Value() * math.Pow(high.Value()/low.Value(), weight)
	if low.Bound() || high.Bound() {
		return rundir.Over(v)
	}
	return rundir.Exactly(v)
}

// cautionOrder are the notes that say something of the answer itself, the weightiest first: that the server was not one
// server, that the rate may be another one, and how the server treats some of its users.
var cautionOrder = []string{
	FailsAlways.Code, noteContaminated.Code, noteChanged.Code, "habit.caches", "habit.drops", "habit.pauses",
	"habit.batches",
}

// noteContaminated is given where rows were answered from a prefix cache that the run itself did not fill.
var noteContaminated = note.Kind{Code: "cache.contaminated-rows", Args: []string{"rows", "of"}}

func contaminatedNote(stages []rundir.Stage) note.Note {
	n := 0
	for i := range stages {
		if h := stages[i].Hits; h != nil && h.Contaminated.Known() {
			n++
		}
	}
	if n == 0 {
		return note.Note{}
	}
	return noteContaminated.New(n, len(stages))
}

func topCautions(run *rundir.Run) (cautions []note.Note) {
	all := run.Warnings
	if n := contaminatedNote(run.Stages); !n.IsZero() {
		all = append([]note.Note{n}, all...)
	}
	if run.Saturation != nil {
		all = slices.Concat(run.Saturation.Cautions, all)
	}
	weight := func(n note.Note) int { return slices.Index(cautionOrder, n.Code) }
	for _, n := range all {
		own := run.Saturation != nil && slices.ContainsFunc(run.Saturation.Cautions, n.Equal)
		if (own || weight(n) >= 0) && !slices.ContainsFunc(cautions, n.Equal) {
			cautions = append(cautions, n)
		}
	}
	slices.SortStableFunc(cautions, func(a, b note.Note) int { return cmp.Compare(weight(a), weight(b)) })
	return cautions[:min(len(cautions), mostCautions)]
}
