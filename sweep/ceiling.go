package sweep

import (
	"context"
	"strconv"

	"llmsweep/sweep/rundir"
)

// worthDoubling is the gain in output tokens per second for which the number in flight is doubled once more.
const worthDoubling = 1.05

// SearchPrefix begins the names of the steps of the search for the ceiling. They are recorded, but are no rows.
const SearchPrefix = "search@"

// searchCeiling doubles the number in flight until it brings less than 5 % twice, and returns the level reached: as many as
// make the server faster, and not so many that the backlog takes minutes to drain. Twice, since a step is held for a wave
// only, and a few long answers in it hide what it brings.
func (x *experiment) searchCeiling(ctx context.Context, floor rundir.Stage) (int, error) {
	best, reached, flat := floor.TokensPerS.Output, 1, 0
	if !best.Known() || x.MaxConcurrency == 1 {
		return min(2, x.MaxConcurrency), nil // nothing to double from; the throughput stage tells why
	}
	for before, level := 1, min(2, x.MaxConcurrency); ; before, level = level, min(2*level, x.MaxConcurrency) {
		if x.short() {
			x.warn(noteBudgetCeiling.New(before))
			return before, nil
		}
		rate, err := x.hold(ctx, level)
		if err != nil {
			return 0, err
		}
		switch {
		case !rate.Known() || rate.Value()*worthDoubling < best.Value(): // more in flight made it worse
			flat++
		case rate.Value() < worthDoubling*best.Value(): // as fast, and surely full
			if flat++; flat == 1 {
				reached = level
			}
		default:
			best, reached, flat = rate, level, 0
		}
		switch {
		case flat == 2 || flat == 1 && level == x.MaxConcurrency:
			return reached, nil
		case level == x.MaxConcurrency:
			x.warn(noteCeilingBounded.New(level))
			return level, nil
		}
	}
}

// hold keeps a number in flight for a wave or two and returns the output tokens per second.
func (x *experiment) hold(ctx context.Context, level int) (rundir.Number, error) {
	spec := x.closed(SearchPrefix+strconv.Itoa(level), rundir.Ceiling, level)
	spec.MinWaves, spec.MinRequests, spec.MinTime, spec.Tail = 1, level, x.StageTime/16, 0
	st := spec.describe(0)
	x.Observer.StageBegins(&st, spec.MinTime, x.left(x.ahead+1))
	m, err := newStage(spec, x.Doer, x.Log, x.Observer).run(ctx)
	if err != nil {
		return rundir.Number{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return rundir.Number{}, err
	}
	if st, err = summarise(st, x.Log.Records(spec.Name), m, spec.Tolerance); err != nil {
		return rundir.Number{}, err
	}
	if l := st.Latency.Mean; !l.IsZero() {
		x.latency = l.Value()
	}
	if rate := st.TokensPerS.Output; rate.Known() {
		x.Observer.Note(noteCeilingStep.New(level, rate.Value()))
	}
	return st.TokensPerS.Output, x.settle(ctx)
}
