package saturation

import (
	"cmp"
	"slices"

	"llmsweep/sweep/rundir"
)

// openLoops returns the usable stages with an arrival rate, by rate.
func openLoops(stages []rundir.Stage) []*rundir.Stage {
	var open []*rundir.Stage
	for i := range stages {
		if st := &stages[i]; st.Rate.Known() && (st.Requests.OK > 0 || st.Progress.Rate.Or(0) > 0) && Usable(st) {
			open = append(open, st)
		}
	}
	slices.SortStableFunc(open, func(a, b *rundir.Stage) int {
		return cmp.Or(cmp.Compare(a.Rate.Value(), b.Rate.Value()), cmp.Compare(a.Repeat, b.Repeat))
	})
	return open
}

// shownLoops returns those of [openLoops] that are rows: latencies of a quick hold are those of a full server.
func shownLoops(stages []rundir.Stage) []*rundir.Stage {
	return slices.DeleteFunc(openLoops(stages), (*rundir.Stage).Quick)
}

// Usable reports whether a stage is whole, and says more of the server than of the client.
func Usable(st *rundir.Stage) bool { return st.Invalid.IsZero() && st.State == rundir.Complete }

// synchronousStage returns the stage with one request in flight; nil where none is usable.
func synchronousStage(stages []rundir.Stage) *rundir.Stage {
	for i := range stages {
		if st := &stages[i]; st.Role == rundir.Synchronous && Usable(st) {
			return st
		}
	}
	return nil
}

// ThroughputRate returns what the throughput stage completed per second; absent where it completed nothing, or was not
// steady.
func ThroughputRate(run *rundir.Run) (rate rundir.Number) {
	if st := throughputStage(run); st != nil {
		rate = atFullLength(st).Progress.Rate
	}
	if tried := run.First(rundir.Throughput); !rate.Known() && tried != nil && tried.State != rundir.Running {
		return searchRate(run) // it completed nothing: what the search saw is better than no rate at all
	}
	return rate
}

// searchRate returns the rate of the best step of the search, by the output of one request at a time; absent where
// either is not known.
func searchRate(run *rundir.Run) (rate rundir.Number) {
	best, floor := 0.0, synchronousStage(run.Stages)
	for _, step := range run.Search {
		best = max(best, step.Output.Or(0))
	}
	if floor == nil || best == 0 || floor.TokensPerS.Output.Or(0) <= 0 {
		return rate
	}
	return rundir.Exactly(best / floor.TokensPerS.Output.Value() * floor.Progress.Rate.Value())
}

// throughputStage returns the throughput stage; nil where none is usable, or it was not steady.
func throughputStage(run *rundir.Run) (ceiling *rundir.Stage) {
	for i := range run.Stages {
		if st := &run.Stages[i]; st.Role == rundir.Throughput && Usable(st) && st.Progress.Rate.Known() {
			ceiling = st
		}
	}
	return ceiling
}
