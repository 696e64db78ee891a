package sweep

import (
	"context"
	"strconv"

	"llmsweep/sweep/answer"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
)

// worthDoubling is the gain in output tokens per second for which the number in flight is doubled once more: the noise between two waves
// is about as large (the rhythm in package saturation).
const worthDoubling = 1.05

// SearchPrefix begins the names of the steps of the search for the ceiling. They are recorded, but are no rows.
const SearchPrefix = "search@"

// SearchCeiling doubles the number in flight until it brings less than 5 % twice, and returns the level reached: as many as
// make the server faster, and not so many that the backlog takes minutes to drain. Twice, since a step is held for a wave
// only, and a few long answers in it hide what it brings. It goes no further than most.
func SearchCeiling(ctx context.Context, x *experiment.Experiment, floor rundir.Stage, most int) (int, error) {
	best, reached, flat := floor.TokensPerS.Output, 1, 0
	if !best.Known() || most == 1 {
		return min(2, most), nil // nothing to double from; the throughput stage shows why
	}
	for before, level := 1, min(2, most); ; before, level = level, min(2*level, most) {
		if x.Short() {
			x.Warn(answer.BudgetCeiling.New(before))
			return before, nil
		}
		rate, err := step(ctx, x, level)
		if err != nil {
			return 0, err
		}
		switch {
		case !rate.Known() || rate.Value()*worthDoubling < best.Value(): // more in flight made it slower
			flat++
		case rate.Value() < worthDoubling*best.Value(): // as fast, and full
			if flat++; flat == 1 {
				reached = level
			}
		default:
			best, reached, flat = rate, level, 0
		}
		switch {
		case flat == 2 || flat == 1 && level == most:
			return reached, nil
		case level == most:
			x.Warn(answer.CeilingBounded.New(level))
			return level, nil
		}
	}
}

// step keeps a number in flight for a wave or two and returns the output tokens per second.
func step(ctx context.Context, x *experiment.Experiment, level int) (rundir.Number, error) {
	const shorter = 16 // than a stage: all doublings together take about one stage
	s := x.Closed(SearchPrefix+strconv.Itoa(level), rundir.Ceiling, level)
	s.MinWaves, s.MinRequests, s.MinTime, s.Tail = 1, level, x.Pace().StageTime/shorter, 0
	st, err := x.Try(ctx, s)
	if err != nil {
		return rundir.Number{}, err
	}
	if rate := st.TokensPerS.Output; rate.Known() {
		x.Note(noteCeilingStep.New(level, rate.Value()))
	}
	return st.TokensPerS.Output, nil
}
