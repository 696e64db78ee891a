package saturation

import (
	"math"
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

var noteCollapses = note.Kind{Code: "habit.collapses", Args: []string{"sustained", "low", "high", "overload"}}

// Notes on how a server that collapsed fares once the load falls to a rate that it sustains otherwise.
var (
	noteRebounds  = note.Kind{Code: "collapse.rebounds", Args: []string{"overload", "held", "rate", "took"}}
	noteStaysSlow = note.Kind{Code: "collapse.stays", Args: []string{"overload", "held", "rate", "watched"}}
)

// rebounds returns that note; none where it was not measured.
func rebounds(run *rundir.Run) (n note.Note) {
	r := run.Rebound
	switch {
	case r == nil:
		return n
	case r.Took.Known():
		return noteRebounds.New(r.Overload.Value(), r.Held.Value(), r.Rate.Value(), r.Took.Value())
	}
	return noteStaysSlow.New(r.Overload.Value(), r.Held.Value(), r.Rate.Value(), r.Watched.Value())
}

// How much more a server must complete below its limit than far beyond it to be said to collapse. Differences that plain servers show are
// smaller: see TestHabitsAreNamed.
const (
	collapsed        = 1.08
	collapsedPausing = 1.30 // of a server that pauses: how many pauses fall into a stage is chance
	// Of all stages far behind together. A slow server completes few requests in each, so that none shows it alone. Together they have
	// small errors of their own, and differ in other ways: see rhythm.
	collapsedTogether = 1.30
	// Of a single stage. One that is slow by less may have had bad luck, or a machine with something else to do: a second stage tells.
	collapsedAlone = 1.30
	// The difference must not be chance, by a one-sided test with few batches far behind.
	sure         = 0.9985
	leastBatches = 4
)

// collapses rewrites the answer where overload costs throughput. Then the plateau of overloaded stages is no limit of what the server
// sustains: that lies between the highest stable and the lowest saturated rate. It reports whether that is so.
func (f *finder) collapses(s *rundir.Saturation, ceiling *rundir.Stage) bool {
	behind := f.farBehind()
	most := f.mostBelow(ceiling)
	if len(behind) == 0 || !most.Rate.Known() || f.changed {
		return false
	}
	limit := f.collapseLimit(behind)
	costs := costlyOnes(behind, most, limit)
	apart := most.Low.Known() && most.Low.Value() >= limit*s.High.Value() // no stage beyond the edge completes as much
	if 2*costs <= len(behind) && !apart && !costly(most, pooled(behind), max(limit, collapsedTogether)) {
		return false
	}
	stable, saturated := f.lastStable(), f.firstSaturated()
	if !stable.Known() || !saturated.Known() {
		return false
	}
	f.notes = slices.DeleteFunc(f.notes, func(n note.Note) bool { return n.Is(noteOverloadCosts) || n.Is(noteOverloadOrChange) }) // the answer says it
	if len(f.notes) == 0 {
		f.notes = nil
	}
	s.HighestStable, s.LowestSaturated = stable, saturated
	s.Rate, s.Low, s.High = f.edgeOfCollapse(most.Rate.Value()+stats.Z95*standardError(most), ceiling)
	s.Overload, s.OverloadLow, s.OverloadHigh = plateau(behind)
	return true
}

// collapseLimit returns how much more the server must complete below its limit than in the stages far behind.
func (f *finder) collapseLimit(behind []*rundir.Stage) float64 {
	limit := collapsed
	if len(behind) == 1 {
		limit = collapsedAlone
	}
	if f.pausing {
		limit = max(limit, collapsedPausing)
	}
	return limit
}

// costlyOnes counts the stages in which the server completes less than it does at most, by more than a limit.
func costlyOnes(behind []*rundir.Stage, most rundir.Progress, limit float64) (n int) {
	for _, st := range behind {
		if costly(most, st.Progress, limit) {
			n++
		}
	}
	return n
}

// CollapseUnsure reports whether a single stage far behind suggests that overload costs throughput, which a second one would show.
func CollapseUnsure(run *rundir.Run) bool {
	f := newFinder(run)
	behind := f.farBehind()
	if len(behind) != 1 || f.pausing || f.changed || !f.lastStable().Known() {
		return false
	}
	most := f.mostBelow(ceilingOf(run.Stages))
	return costly(most, behind[0].Progress, collapsed) && !costly(most, behind[0].Progress, collapsedAlone)
}

// costly reports whether a server completes less far behind than it does at most, by more than a limit and by more than chance.
func costly(most, behind rundir.Progress, limit float64) bool {
	if behind.Batches < leastBatches {
		return false
	}
	times := stats.StudentQuantile(sure, float64(behind.Batches-1))
	difference := most.Rate.Value() - behind.Rate.Value()
	return most.Rate.Value() >= limit*behind.Rate.Value() && difference >= times*math.Hypot(standardError(most), standardError(behind))
}

// pooled returns what the server completes in all of the stages together, with the batches of all.
func pooled(rows []*rundir.Stage) (p rundir.Progress) {
	for _, r := range rows {
		p.Batches += max(r.Progress.Batches-1, 0)
	}
	p.Batches++
	p.Rate, p.Low, p.High = plateau(rows)
	return p
}

// farBehind returns the saturated stages with what they completed once they were far behind in place of their progress.
func (f *finder) farBehind() (rows []*rundir.Stage) {
	for i, st := range f.open {
		if i < f.cut || st.Verdict != rundir.Saturated || !serverLimited(st) {
			continue
		}
		far := *st
		if b := st.Traits.Behind; b.Rate.Known() { // not in runs of earlier versions
			far.Progress = b
		}
		rows = append(rows, &far)
	}
	return rows
}

// mostBelow returns the progress of the stage that completed most while the server was not overloaded: the ceiling, or a stable one, by the
// lower bounds of their intervals.
func (f *finder) mostBelow(ceiling *rundir.Stage) (most rundir.Progress) {
	if ceiling != nil {
		most = ceiling.Progress
	}
	for i, st := range f.open {
		if p := st.Progress; i < f.cut && st.Verdict == rundir.Stable && p.Low.Known() && !(p.Low.Value() <= most.Low.Or(0)) {
			most = p
		}
	}
	return most
}

// lastStable returns the highest rate below the edge that most of its stages show stable.
func (f *finder) lastStable() (rate rundir.Number) {
	for i, r := range f.open {
		if stables, others := f.verdictsAt(r.Rate); i < f.cut && stables > others {
			rate = r.Rate
		}
	}
	return rate
}

// firstSaturated returns the lowest rate above the edge that most of its stages show saturated.
func (f *finder) firstSaturated() (rate rundir.Number) {
	for i, r := range f.open {
		if stables, others := f.verdictsAt(r.Rate); i >= f.cut && others > stables {
			return r.Rate
		}
	}
	return rate
}

// MildOnly reports whether an answer rests on refusals so few that the server was not always busy: a stage farther beyond the edge shows more.
func MildOnly(s *rundir.Saturation, stages []rundir.Stage) bool {
	if !s.Reason.Is(noteRefused) {
		return false
	}
	for _, st := range Open(stages) {
		if over(st) && !refusesFew(st) {
			return false
		}
	}
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
	if s.Reason.Is(noteRefused) {
		return farBeyond * s.Rate.Value(), true
	}
	if !pauses(stages).IsZero() && !s.Overload.Known() {
		return wellBeyond * s.Rate.Value(), true
	}
	if !s.Overload.Known() || !s.HighestStable.Known() || !s.LowestSaturated.Known() {
		return 0, false
	}
	return (s.HighestStable.Value() + s.LowestSaturated.Value()) / 2, true
}
