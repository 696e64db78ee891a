// Draws the answer from a run's stages: the saturation rate, the highest rate that keeps an SLO, and why there is none. It is
// the same for a run that has ended, one that was killed, and one that another tool wrote.

package saturation

import (
	"math"
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// WriteAnswer writes the answer of a sweep, with the SLO's where there are terms. Other kinds of runs have none.
func WriteAnswer(run *rundir.Run, terms []slo.Term) {
	switch run.Plan.Kind {
	case rundir.KindUsers:
		run.Answer = carriedAnswer(run, terms)
		return
	case rundir.KindSweep:
	default:
		return
	}
	conclude(run)
	run.SLO = promised(run, terms)
	run.Answer = answerOf(run)
}

// conclude finds the saturation rate.
func conclude(run *rundir.Run) {
	markCeiling(run.Stages)
	found, notes := Find(run)
	for _, n := range append(notes, habits(run, found)...) {
		run.Warnings = note.Add(run.Warnings, n)
	}
	run.Saturation = located(run, found)
	if run.Saturation == nil {
		if n, ok := whyNone(run); ok {
			run.Warnings = note.Add(run.Warnings, n)
		}
	}
}

// DropUnsure takes out the intervals that the answer of a sweep shows to be unsure. A run that goes on needs them: its answer may change.
func DropUnsure(run *rundir.Run) {
	if run.Saturation == nil || run.Source != nil {
		return
	}
	limit := run.Saturation.Rate.Value()
	if run.Saturation.Rate.IsZero() { // somewhere between bounds: at worst at the lower one
		limit = run.Saturation.Low.Value()
	}
	for i := range run.Stages {
		if st := &run.Stages[i]; st.Rate.Known() {
			DropIntervals(st, st.Rate.Value()/limit)
		}
	}
}

// whyNone returns why a whole sweep found no saturation rate, and what to run next.
func whyNone(run *rundir.Run) (why note.Note, ok bool) {
	var decided, longest, highest, kept float64
	if n, ok := noneInvalid(run.Stages); ok {
		return n, true
	}
	rows := Open(run.Stages)
	budgetOver := run.Plan.Budget > 0 && run.State != rundir.Interrupted && run.Failure.IsZero()
	if len(rows) == 0 && !budgetOver {
		return why, false
	}
	for _, st := range rows {
		if st.Verdict != rundir.Undecided {
			decided++
		}
		if l := st.Latency.Mean; !l.IsZero() {
			longest = max(longest, l.Value())
		}
		offered := slo.Offered(st) // as tables and the answer have it
		if highest = max(highest, offered); st.Verdict == rundir.Stable {
			kept = max(kept, offered)
		}
	}
	switch {
	case budgetOver:
		return noteNoneBudget.New(run.Plan.Budget, longer(run, 2)), true
	case decided <= float64(len(rows))/2:
		return noteNoneDecided.New(longest, run.Plan.StageTime, rundir.RoundUp(max(advisedWaves*longest, 2*run.Plan.StageTime))), true
	case !saturatedSomewhere(run.Stages) && kept > 0:
		return noneFilled(run, kept, highest), true
	}
	return noteNoneBeyond.New(highest), true
}

// noneInvalid returns the note on a sweep of which rows show the client and not the server: what they would have shown is not known. ok is false
// where there are none. Neither the floor nor control measurements could have shown the saturation rate.
func noneInvalid(stages []rundir.Stage) (n note.Note, ok bool) {
	var names []string
	var why note.Note
	for i := range stages {
		if st := &stages[i]; !st.Invalid.IsZero() && st.Role != rundir.Floor && st.Role != rundir.Control {
			names, why = append(names, st.Name), st.Invalid
		}
	}
	return noteNoneInvalid.New(names, []note.Note{why}), len(names) > 0
}

// noneFilled returns the note on a sweep of which no row is more than the server takes. kept is the highest rate that was stable, and highest the
// highest one tried. Where the search for the ceiling went as far as it was allowed to, it may go farther; else stages must be longer, since the
// search ended by itself. A throughput stage that was never steady does not show whether the server was full.
func noneFilled(run *rundir.Run, kept, highest float64) note.Note {
	undecided, inFlight, stageTime := highest, math.NaN(), math.NaN()
	if highest <= kept {
		undecided = math.NaN()
	}
	if ceilingTooShort(run.Stages) {
		return noteNoneSteady.New(kept, undecided, rundir.RoundUp(2*run.Plan.StageTime).Seconds())
	}
	if slices.ContainsFunc(run.Warnings, func(n note.Note) bool { return n.Is(CeilingBounded) }) {
		inFlight = 2 * float64(run.Plan.MaxConcurrency)
	} else {
		stageTime = rundir.RoundUp(2 * run.Plan.StageTime).Seconds()
	}
	return noteNoneFilled.New(kept, inFlight, undecided, stageTime)
}

// searchCut reports whether a run warns that its search for the ceiling ended before the output stopped growing.
func searchCut(warnings []note.Note) bool {
	return slices.ContainsFunc(warnings, func(n note.Note) bool {
		return n.Is(BudgetCeiling) || n.Is(CeilingBounded)
	})
}

// saturatedSomewhere reports whether an arrival rate was shown to be more than the server takes.
func saturatedSomewhere(stages []rundir.Stage) bool {
	return slices.ContainsFunc(Open(stages), over)
}

// highestStable returns the highest arrival rate that was shown to be stable.
func highestStable(stages []rundir.Stage) (rate rundir.Number) {
	for _, st := range Open(stages) {
		if st.Verdict == rundir.Stable {
			rate = st.Rate
		}
	}
	return rate
}

// promised returns the answer of a sweep to its terms; nil where there are none.
func promised(run *rundir.Run, terms []slo.Term) *rundir.SLO {
	if len(terms) == 0 {
		return nil
	}
	return Promised(run, sloRows(run), run.Saturation, terms)
}

// WriteSLO returns the highest rate at which the terms hold, by the rows of a run, however wide its interval is; nil where there are no terms.
func WriteSLO(run *rundir.Run, terms []slo.Term, limit *rundir.Saturation) *rundir.SLO {
	if len(terms) == 0 {
		return nil
	}
	return slo.Highest(sloRows(run), limit, terms)
}

// sloRows returns the rows that show up to which rate terms hold: those with an arrival rate, and the floor.
func sloRows(run *rundir.Run) []*rundir.Stage {
	rows := Open(run.Stages)
	if floor := floorOf(run.Stages); floor != nil {
		rows = append(rows, floor)
	}
	return rows
}
