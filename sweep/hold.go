package sweep

import (
	"context"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// maxHolds is how many stages test an answer at most: each that fails halves what is left to explain, or shows it at once.
const maxHolds = 6

// keepsForHold reports whether a budget has no more time than a hold takes.
func (x *sweeper) keepsForHold() bool {
	return x.HasBudget() && x.TimeLeft().Seconds() < 2.5*experiment.StageCost*x.Pace().StageTime.Seconds()
}

// hold tests the answer before it is given: it holds a rate near it for as long as a stage may last, and goes on where that fails.
func (x *sweeper) hold(ctx context.Context) error {
	defer func() { x.Ahead.Holds = experiment.ForecastCounts{} }()
	for range maxHolds {
		rate := saturation.Next(x.Run())
		if rate <= 0 || x.Short() || !x.config.Caps.Allows(rate) {
			return nil
		}
		s := x.Poisson(rate, rundir.Hold)
		s.Name, s.Lasting = rundir.HoldPrefix+arrival.RateName(rate), true
		if x.hasName(s.Name) {
			return nil
		}
		st, err := x.Measure(ctx, s)
		if err != nil || !st.Invalid.IsZero() {
			return err
		}
	}
	return nil
}
