package slo

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Highest returns the highest rate at which all terms hold, by the curves through all stages that have a rate of their own, and
// through those with one request at a time, which count as rate 0. It never lies beyond what was
// measured, nor beyond the saturation rate, which may be nil.
func Highest(stages []*rundir.Stage, saturation *rundir.Saturation, terms []Term) *rundir.SLO {
	stages = slices.Clone(stages)
	slices.SortStableFunc(stages, func(a, b *rundir.Stage) int { return cmp.Compare(Offered(a), Offered(b)) })
	out := &rundir.SLO{}
	end := stats.Root{At: math.Inf(1), Low: math.Inf(1), High: math.Inf(1)}
	for _, t := range terms {
		out.Terms = append(out.Terms, t.String())
		root := t.end(stages, saturates(saturation))
		if root.At < end.At {
			end.At, end.Fitted, out.Limiting = root.At, root.Fitted, t.String()
		}
		end.Low, end.High = min(end.Low, root.Low), min(end.High, root.High)
	}
	var capped bool
	if end, capped = below(end, saturation); capped {
		out.Limiting = rundir.LimitSaturation
	}
	end = beneathMissed(end, stages, terms)
	settle(out, stages, terms, end)
	switch {
	case !out.Rate.IsZero():
		out.Verdict = rundir.Kept
	case out.Reason.Code == noteBrokenAt.Code:
		out.Verdict = rundir.Broken
	default:
		out.Verdict = rundir.Unsure
	}
	return out
}

// below returns an end that is not above the saturation rate, and whether that lowered it: where requests queue up for ever, they wait for
// longer than any limit. Where the saturation rate is known by bounds alone, the upper one counts.
func below(end stats.Root, saturation *rundir.Saturation) (lower stats.Root, capped bool) {
	s := saturation
	if s == nil || !s.High.Known() {
		return end, false
	}
	most := s.High.Value()
	if s.Rate.Known() {
		most = s.Rate.Value()
	}
	if capped = most < end.At; capped {
		end = stats.Root{At: most, Low: min(end.Low, most), High: end.High}
		if s.Low.Known() {
			end.Low = min(end.Low, s.Low.Value())
		}
	}
	end.High = max(end.At, min(end.High, s.High.Value()))
	return end, capped
}

// beneathMissed returns an end whose interval does not reach beyond the lowest stage above it that misses a term beyond doubt.
func beneathMissed(end stats.Root, stages []*rundir.Stage, terms []Term) stats.Root {
	for _, s := range stages {
		if at := Offered(s); at >= end.At && at < end.High && slices.ContainsFunc(terms, func(t Term) bool { return t.missedBeyondDoubt(s) }) {
			end.High = at
		}
	}
	return end
}

// end returns where the term's curve reaches its limit, at a server that saturates at a rate, which may be NaN.
func (t Term) end(stages []*rundir.Stage, saturates float64) stats.Root {
	var points []stats.Point
	clusters := t.clustering(stages)
	for _, s := range stages {
		if p, ok := t.point(s, clusters, saturates); ok {
			points = append(points, p)
		}
	}
	if len(points) == 0 {
		return stats.Root{At: math.Inf(1), Low: math.Inf(1), High: math.Inf(1)} // no stage keeps it either
	}
	root := stats.Crossing(points, reach, scatter, stats.Prior{Mean: crowdingCounts, SD: crowdingVaries})
	if root.Fitted {
		root.Low, root.High = root.At-Widened*(root.At-root.Low), root.At+Widened*(root.High-root.At)
	}
	return root
}

// settle fills in the answer. The terms hold at a rate only where a stage was shown to keep them all; or where the stages up to
// the rate show it together, since what holds at a rate holds below; or where the curve shows it, because its interval begins above the
// lowest stage.
func settle(out *rundir.SLO, stages []*rundir.Stage, terms []Term, end stats.Root) {
	var kept, broken *rundir.Stage
	for _, s := range stages {
		switch v, _ := Judge(s, terms); {
		case s.Verdict == rundir.Saturated || v == rundir.Broken:
			if Offered(s) >= end.At && (broken == nil || Offered(broken) < end.At) || broken == nil {
				broken = s
			}
		case v == rundir.Kept && (kept == nil || Offered(s) <= end.At):
			kept = s
		}
	}
	if broken != nil {
		out.BrokenStage = broken.Name
	}
	switch {
	case kept == nil && !together(stages, terms, end.At) && !(end.Fitted && end.Low > Offered(stages[0])):
		none(out, stages, terms, broken, math.IsInf(end.At, -1))
		if !math.IsInf(end.At, 0) { // where to look for it
			out.Low, out.High = rundir.Exactly(max(0, end.Low)), rundir.Exactly(end.High)
		}
	case kept != nil && math.IsInf(end.At, 1):
		out.KeptStage, out.Rate, out.Limiting = kept.Name, rundir.Over(Offered(kept)), ""
		out.Reason = noteNoneBroke.New(kept.Name)
	case math.IsInf(end.At, -1): // one exception does not make a rate
		none(out, stages, terms, broken, true)
	default:
		if out.Reason = noteEnds.New(out.Limiting); kept != nil {
			out.KeptStage, out.Reason = kept.Name, noteKeptThenEnds.New(kept.Name, out.Limiting)
		}
		out.Rate, out.Low, out.High = rundir.Exactly(end.At), rundir.Exactly(max(0, end.Low)), rundir.Exactly(end.High)
		out.Goodput = goodputAt(stages, end.At, leastGood(terms))
	}
}

// together reports whether the stages up to a rate, taken together, show that each of the terms is kept.
func together(stages []*rundir.Stage, terms []Term, rate float64) bool {
	if math.IsInf(rate, 0) {
		return false
	}
	for _, t := range terms {
		var all tally
		kept := false
		for _, s := range stages {
			if Offered(s) > rate {
				continue
			}
			kept = kept || t.Holds(s) == rundir.Kept
			if c, ok := t.count(s); ok {
				all = all.plus(tally{c.beyond, c.open, c.of, c.of * c.worth()})
			}
		}
		if !kept && (all.of == 0 || all.against(t.tail()) != rundir.Kept) {
			return false
		}
	}
	return true
}

// Missed reports whether stages of one load, taken together, miss one of the terms.
func Missed(stages []*rundir.Stage, terms []Term) bool {
	for _, t := range terms {
		var all tally
		sum, means := 0.0, 0.0
		for _, s := range stages {
			if c, ok := t.count(s); ok {
				all = all.plus(c)
			} else if v, _ := t.Of(s); t.Stat == Mean && v.Known() {
				sum, means = sum+v.Value(), means+1
			}
		}
		if all.beyond > t.tail()*all.of || sum > t.Limit*means {
			return true
		}
	}
	return false
}

// none fills in why there is no such rate: the terms are broken from the lowest rate on, or there are too few requests.
func none(out *rundir.SLO, stages []*rundir.Stage, terms []Term, broken *rundir.Stage, outright bool) {
	for _, s := range stages { // the stage that is nearest to being judged
		v, t := Judge(s, terms)
		if outright && broken != nil || v != rundir.Unsure || s.Verdict == rundir.Saturated || !s.Rate.Known() {
			continue
		}
		if n := t.Needs(s); n > 0 && (out.Needs == 0 || n < out.Needs) {
			out.Needs, out.NeedsStage, out.Limiting = n, s.Name, t.String()
		}
	}
	switch {
	case out.Needs > 0:
		out.Reason = noteTooFew.New(out.Limiting, out.NeedsStage, out.Needs)
	case broken == nil:
		out.Limiting, out.Reason = "", noteNoneJudged.New()
	default:
		out.Reason = noteBrokenAt.New(broken.Name)
		if _, t := Judge(broken, terms); t != nil {
			out.Limiting = t.String()
		}
	}
}

// leastGood returns the share of requests that meet all terms, at least, where each term is kept; 0 where the terms do not tell.
func leastGood(terms []Term) float64 {
	good := 1.0
	for _, t := range terms {
		if t.Metric == ITL || t.Stat == Mean || t.OfStage() {
			return 0
		}
		good -= t.tail()
	}
	return max(0, good)
}

// goodputAt returns the goodput at a rate: the rate times the share of good requests, linear between the stages on either side, and at least that share
// which the terms ask for: they are kept at that rate.
func goodputAt(stages []*rundir.Stage, rate, least float64) rundir.Number {
	var low, high *rundir.Stage
	for _, s := range stages {
		switch {
		case s.Goodput == nil || s.Goodput.Share.IsZero():
		case Offered(s) <= rate:
			low = s
		case high == nil:
			high = s
		}
	}
	switch {
	case low == nil:
		return rundir.Number{}
	case high == nil:
		high = low
	}
	a, b := low.Goodput.Share, high.Goodput.Share
	share := a.Value()
	if gap := Offered(high) - Offered(low); gap > 0 {
		share += (b.Value() - a.Value()) * (rate - Offered(low)) / gap
	}
	if share = max(share, least); a.Bound() || b.Bound() {
		return rundir.Over(rate * share)
	}
	return rundir.Exactly(rate * share)
}
