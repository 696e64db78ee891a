package sweep

import (
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// conclude writes the answer of a sweep, and takes out the intervals that the answer shows to be unsure.
func conclude(run *rundir.Run) {
	found, notes := saturation.Find(run.Stages)
	for _, n := range notes {
		run.Warnings = note.Add(run.Warnings, n)
	}
	run.Saturation = bounded(run, found)
	if found == nil {
		return
	}
	for i := range run.Stages {
		if st := &run.Stages[i]; st.Rate.Known() {
			saturation.DropIntervals(st, st.Rate.Value()/found.Rate.Value())
		}
	}
}

// bounded returns the saturation rate as a lower bound where the search for the ceiling was cut before the output stopped growing, and no
// arrival rate was shown to be saturated: then the closed loop did not fill the server. Otherwise it returns what was found, its interval
// cut at 0.
func bounded(run *rundir.Run, found *rundir.Saturation) *rundir.Saturation {
	if found == nil || !found.Rate.Known() {
		return found
	}
	if found.Low.Known() && found.Low.Value() < 0 {
		found.Low = rundir.Exactly(0)
		if found.HighestStable.Known() {
			found.Low = found.HighestStable
		}
	}
	ceiling := slices.IndexFunc(run.Stages, func(st rundir.Stage) bool { return st.Role == rundir.Ceiling })
	if !searchCut(run.Warnings) || saturatedSomewhere(run.Stages) || ceiling < 0 {
		return found
	}
	stable := highestStable(run.Stages)
	most := run.Stages[ceiling].Progress.Rate.Value()
	if stable.Known() {
		most = max(most, stable.Value())
	}
	return &rundir.Saturation{
		Rate: rundir.Over(most), Output: found.Output, HighestStable: stable,
		Reason: noteAtLeast.New(run.Stages[ceiling].MaxConcurrency, run.Stages[ceiling].Progress.Rate.Value()),
	}
}

// searchCut reports whether a run warns that its search for the ceiling ended before the output stopped growing.
func searchCut(warnings []note.Note) bool {
	return slices.ContainsFunc(warnings, func(n note.Note) bool {
		return n.Is(noteBudgetCeiling) || n.Is(noteCeilingBounded)
	})
}

// saturatedSomewhere reports whether an arrival rate was shown to be saturated.
func saturatedSomewhere(stages []rundir.Stage) bool {
	return slices.ContainsFunc(saturation.Open(stages), func(st *rundir.Stage) bool { return st.Verdict == rundir.Saturated })
}

// highestStable returns the highest arrival rate that was shown to be stable.
func highestStable(stages []rundir.Stage) (rate rundir.Number) {
	for _, st := range saturation.Open(stages) {
		if st.Verdict == rundir.Stable {
			rate = st.Rate
		}
	}
	return rate
}
