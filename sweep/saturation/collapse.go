package saturation

import (
	"math"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

var noteCollapses = note.Kind{Code: "habit.collapses", Args: []string{"sustained", "low", "high", "overload"}}

// How much more a server must get done below its limit than beyond it to be said to collapse. Differences that plain servers show are
// smaller: see TestHabitsAreNamed.
const (
	collapsedBelow   = 1.06 // a stable stage
	collapsedLoop    = 1.10 // the closed loop
	collapsedPausing = 1.30 // a stable stage of a server that pauses: how many pauses fall into a stage is chance
)

// normal is the 97.5 % quantile of the normal distribution.
const normal = 1.96

// unsureEdge is how far beyond the rates of its bracket the edge of a collapse may lie, as a share of the rate. A server collapses
// at random: at the edge one stage is stable and the next is not.
const unsureEdge = 0.03

// collapses rewrites the answer where overload costs throughput. Then the plateau of overloaded stages is no limit of what the server
// sustains: that lies between the highest stable and the lowest saturated rate. It reports whether that is so.
func (f *finder) collapses(s *rundir.Saturation, ceiling *rundir.Stage) bool {
	var overloaded []*rundir.Stage
	for i, st := range f.open {
		if i >= f.cut && serverLimited(st) && st.Verdict == rundir.Saturated {
			overloaded = append(overloaded, st)
		}
	}
	if len(overloaded) == 0 || f.changed {
		return false
	}
	rate, low, high := plateau(overloaded)
	var best rundir.Progress
	below := collapsedBelow
	var stable, saturated rundir.Number
	for i, r := range f.open {
		stables, others := f.verdictsAt(r.Rate)
		if r.Traits.Stalls > 0 {
			below = collapsedPausing
		}
		switch {
		case i < f.cut && stables > others:
			stable = r.Rate
			if p := r.Progress; p.Low.Known() && !(p.Low.Value() <= orZero(best.Low)) {
				best = p
			}
		case i >= f.cut && others > stables && !saturated.Known():
			saturated = r.Rate
		}
	}
	if !stable.Known() || !saturated.Known() {
		return false
	}
	// A server that collapses slows down during a stage, so that the intervals of overloaded stages are wide: the difference must be
	// many times its standard error.
	const sure = 3
	more := false
	if best.Rate.Known() {
		difference := best.Rate.Value() - rate.Value()
		overloadError := (high.Value() - low.Value()) / 2 / normal
		more = best.Rate.Value() >= below*rate.Value() && difference >= sure*math.Hypot(standardError(best), overloadError)
	}
	loop := ceiling != nil && ceiling.Progress.Low.Value() > collapsedLoop*high.Value()
	if !more && !loop {
		return false
	}
	s.HighestStable, s.LowestSaturated = stable, saturated
	s.Rate = rundir.Exactly((stable.Value() + saturated.Value()) / 2)
	s.Low, s.High = rundir.Exactly(stable.Value()*(1-unsureEdge)), rundir.Exactly(saturated.Value()*(1+unsureEdge))
	s.Overload, s.OverloadLow, s.OverloadHigh = rate, low, high
	return true
}

// outputAt returns the output tokens per second of the stages at a rate.
func (f *finder) outputAt(rate rundir.Number) rundir.Number {
	var rows []*rundir.Stage
	for _, r := range f.open {
		if r.Rate == rate && r.Verdict == rundir.Stable {
			rows = append(rows, r)
		}
	}
	return meanOutput(rows)
}

// Probe returns the rate of the stage that narrows an answer best, where that is not just beyond the edge. A server that collapses shows
// what it sustains only between the rates already measured; one that sheds is always busy only far beyond the edge.
// For one that pauses, how many pauses fall into a stage decides its verdict just beyond the edge, so that those found saturated are the
// slow ones. The stages are those that s was found from.
func Probe(s *rundir.Saturation, stages []rundir.Stage) (rate float64, ok bool) {
	const farBeyond, wellBeyond = 1.5, 1.3
	if !pauses(stages).IsZero() && !s.Overload.Known() {
		return wellBeyond * s.Rate.Value(), true
	}
	if s.Reason.Is(noteRefused) {
		return farBeyond * s.Rate.Value(), true
	}
	if !s.Overload.Known() || !s.HighestStable.Known() || !s.LowestSaturated.Known() {
		return 0, false
	}
	return (s.HighestStable.Value() + s.LowestSaturated.Value()) / 2, true
}
