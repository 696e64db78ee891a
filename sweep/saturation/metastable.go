package saturation

import (
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// Notes on a server that stayed slow after an overload, although it was idle.
var (
	noteMetastable = note.Kind{Code: "habit.metastable", Args: []string{"after", "slower", "idle"}}
	noteNeverBack  = note.Kind{Code: "habit.metastable-never", Args: []string{"after", "slower", "waited"}}
	noteStayedSlow = note.Kind{Code: "recovery.unknown", Args: []string{"after", "slower", "waited"}}
	noteUnwatched  = note.Kind{Code: "recovery.unwatched", Args: []string{"after", "slower"}}
)

// metastable returns a note where the server stayed slow after an overload: a metastable failure (Bronson and others, HotOS 2021). A server
// that drifts does not become fast again by itself either; but it is slower the more time has passed, and a metastable one is not.
func metastable(run *rundir.Run) (n note.Note) {
	for _, r := range run.Recoveries {
		if r.Idle.Known() {
			return noteMetastable.New(r.After, r.Slower.Value(), r.Idle.Value())
		}
	}
	if len(run.Recoveries) == 0 {
		return n
	}
	first := run.Recoveries[0]
	before, after := controlOfFloor(run.Stages)
	if waited := first.Waited.Or(0); before == nil {
		if waited < leastWait {
			return noteUnwatched.New(first.After, first.Slower.Value())
		}
		return noteStayedSlow.New(first.After, first.Slower.Value(), waited)
	}
	start, end := middleOf(before), middleOf(after)
	grown := after.InterToken.Value()/before.InterToken.Value() - first.Slower.Value()
	drift := (first.Slower.Value() - 1) * (end - first.At.Value()) / (first.At.Value() - start)
	if !(grown < halfOfDrift*drift) {
		return n
	}
	return noteNeverBack.New(first.After, first.Slower.Value(), first.Waited.Or(0))
}

// middleOf returns the middle of a stage in seconds from the run's start.
func middleOf(st *rundir.Stage) float64 { return st.Started + st.Elapsed/2 }

// controlOfFloor returns the stage with one request in flight and its control measurement, where both have a time per token; nil otherwise.
func controlOfFloor(stages []rundir.Stage) (before, after *rundir.Stage) {
	for i := range stages {
		st := &stages[i]
		if st.Role != rundir.Control || st.MaxConcurrency != 1 || !Usable(st) || !st.InterToken.Known() {
			continue
		}
		if before := sameLoad(stages[:i], st); before != nil && before.InterToken.Known() {
			return before, st
		}
	}
	return nil, nil
}
