package saturation

import (
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

var noteCollapses = note.Kind{Code: "habit.collapses", Args: []string{"sustained", "low", "high", "overload"}}

// How much more a server must get done below its limit than beyond it to be said to collapse. Differences that plain servers show are
// smaller: see TestHabitsAreNamed.
const (
	collapsedBelow   = 1.05 // a stable stage, by the bounds of the intervals
	collapsedLoop    = 1.10 // the closed loop
	collapsedPausing = 1.30 // a stable stage of a server that pauses: how many pauses fall into a stage is chance
)

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
	best, below := 0.0, collapsedBelow
	var stable, saturated rundir.Number
	for i, r := range f.open {
		stables, others := f.verdictsAt(r.Rate)
		if r.Traits.Stalls > 0 {
			below = collapsedPausing
		}
		switch {
		case i < f.cut && stables > others:
			stable = r.Rate
			if r.Progress.Low.Known() {
				best = max(best, r.Progress.Low.Value())
			}
		case i >= f.cut && others > stables && !saturated.Known():
			saturated = r.Rate
		}
	}
	loop := ceiling != nil && ceiling.Progress.Low.Value() > collapsedLoop*high.Value()
	if !stable.Known() || !saturated.Known() || best < below*high.Value() && !loop {
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
