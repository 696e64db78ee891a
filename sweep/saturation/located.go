package saturation

import (
	"math"
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// located returns what a sweep found of the saturation rate, or as much as is known of it where that is no rate: a lower bound, where
// nothing limits it from above, or bounds on either side of it.
func located(run *rundir.Run, found *rundir.Saturation) *rundir.Saturation {
	if found == nil || !found.Rate.Known() && !(found.Low.Known() && found.High.Known()) { // a sweep without an answer says why
		return atLeast(run)
	}
	if !found.Rate.Known() {
		return found
	}
	if found.Low.Known() && found.Low.Value() < 0 {
		found.Low = rundir.Exactly(0)
	}
	ceiling := slices.IndexFunc(run.Stages, func(st rundir.Stage) bool { return st.Role == rundir.Ceiling && Usable(&st) })
	if searchCut(run.Warnings) && !saturatedSomewhere(run.Stages) && ceiling >= 0 {
		return cut(run, found, &run.Stages[ceiling])
	}
	for _, n := range found.Cautions {
		_, invalid := noneInvalid(run.Stages)
		if shown, ok := n.Number("stable"); ok && invalid && n.Is(noteNotHeld) { // the rows that would have tested the rate show the client
			found.Low = rundir.Exactly(min(found.Low.Value(), shown))
		}
	}
	half := (found.High.Value() - found.Low.Value()) / 2
	if !found.Low.Known() || !found.High.Known() || half <= widest*found.Rate.Value() {
		return found
	}
	return between(run, found, half/found.Rate.Value())
}

// atLeast returns what is known of a saturation rate that no stage shows: a lower bound. It is nil where there is none, and where the client was
// the limit of all stages after the first.
func atLeast(run *rundir.Run) *rundir.Saturation {
	if spoiled(run.Stages) {
		return nil
	}
	why, ok := whyNone(run)
	stable := highestStable(run.Stages)
	most := stable
	if _, invalid := noneInvalid(run.Stages); run.Plan.Budget > 0 && !invalid {
		most = rundir.Max(stable, searched(run))
	}
	if !ok || !most.Known() {
		return nil
	}
	return &rundir.Saturation{Rate: rundir.Over(most.Value()), HighestStable: stable, Reason: why}
}

// spoiled reports whether stages are invalid, and no other but the floor is whole.
func spoiled(stages []rundir.Stage) bool {
	invalid := false
	for i := range stages {
		st := &stages[i]
		if st.Role != rundir.Floor && Usable(st) {
			return false
		}
		invalid = invalid || !st.Invalid.IsZero()
	}
	return invalid
}

// cut returns the answer of a sweep whose search for the ceiling was cut before the output stopped growing, and which showed no arrival rate to
// be saturated: the closed loop did not fill the server, and what was completed is a lower bound.
func cut(run *rundir.Run, found *rundir.Saturation, ceiling *rundir.Stage) *rundir.Saturation {
	stable := highestStable(run.Stages)
	most := ceiling.Progress.Rate.Value()
	if stable.Known() {
		most = max(most, stable.Value())
	}
	budget, inFlight := math.NaN(), math.NaN()
	if slices.ContainsFunc(run.Warnings, func(n note.Note) bool { return n.Is(CeilingBounded) }) {
		inFlight = 2 * float64(run.Plan.MaxConcurrency)
	} else {
		budget = longer(run, mostLonger)
	}
	return &rundir.Saturation{
		Rate: rundir.Over(most), Output: found.Output, HighestStable: stable,
		Reason: noteAtLeast.New(ceiling.MaxConcurrency, ceiling.Progress.Rate.Value(), budget, inFlight),
	}
}

// between returns the bounds of a saturation rate whose interval is too wide to be called an answer; or the rate, where what else is known of it makes the
// interval narrow enough. half is the half-width of the interval, as a share of the rate.
func between(run *rundir.Run, found *rundir.Saturation, half float64) *rundir.Saturation {
	s := *found
	s.Rate, s.Comfortable, s.ComfortableStage = rundir.Number{}, rundir.Number{}, ""
	if s.Low.Value() <= 0 { // the stages show nothing from below
		if least := rundir.Max(s.HighestStable, searched(run)); least.Value() < s.High.Value() {
			s.Low = least
		}
	}
	if middle := (s.Low.Value() + s.High.Value()) / 2; middle > 0 {
		half = (s.High.Value() - s.Low.Value()) / 2 / middle // of the interval that is given, which may be narrower than the one found first
	}
	if half <= widest {
		s.Rate = rundir.Exactly(min(max(found.Rate.Value(), s.Low.Value()), s.High.Value()))
		s.Comfortable = rundir.Exactly(comfortable * s.Rate.Value())
		return &s
	}
	budget, stageTime := lengthened(run, half)
	s.Reason = noteWide.New(half, budget, stageTime)
	return &s
}

// longer returns a budget that is longer than a run's by a factor, in seconds; NaN where it had none.
func longer(run *rundir.Run, factor float64) float64 {
	if run.Plan.Budget <= 0 {
		return math.NaN()
	}
	return rundir.RoundUp(factor * run.Plan.Budget).Seconds()
}

// searched returns a lower bound of what the server completes per second, by the search for the ceiling; absent where nothing shows it.
// Its steps are short: what they may be off by is taken off.
func searched(run *rundir.Run) rundir.Number {
	alone := floorOf(run.Stages)
	if alone == nil {
		return rundir.Number{}
	}
	tokens := alone.TokensPerS.Output.Value() / alone.Progress.Rate.Value() // of a request
	var most rundir.Number
	for _, s := range run.Search {
		if s.Invalid.IsZero() {
			most = rundir.Max(most, s.Output)
		}
	}
	return rundir.Exactly(most.Value() / searchGain / tokens) // absent where one of them is
}
