package sweep

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// maxHolds is how many stages test an answer at most: each that fails halves what is left to explain, or shows it at once.
const maxHolds = 6

// holdShare is the share of what is left of a budget that a hold takes at most. The longer it is, the more it uses of what
// the server saved up, and the better it tells a queue that swings from one that grows.
const holdShare = 0.6

// holdTime returns how long a hold lasts at most.
func (x *sweeper) holdTime() time.Duration {
	return max(x.Pace().StageMax, rundir.Duration(holdShare*max(0, x.TimeLeft().Seconds())/experiment.StageCost))
}

// hold tests the answer before it is given: it holds a rate near it for longer than other stages, and goes on where that fails.
func (x *sweeper) hold(ctx context.Context) error {
	defer func() { x.Ahead.Holds = experiment.ForecastCounts{} }()
	for range maxHolds {
		rate := saturation.Next(x.Run())
		if rate <= 0 || x.Short() || !x.config.Caps.Allows(rate) {
			return nil
		}
		s := x.Poisson(rate, rundir.Hold)
		s.Name, s.Lasting, s.MaxTime = rundir.HoldPrefix+arrival.RateName(rate), true, x.holdTime()
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

// usually measures the loads that a server is run at, in place of the nearest of some rates, and returns the others. The highest lasts until it supports a p95. A lower
// one has more time, and lasts until it supports a p99 where that is enough: at high loads requests wait in one queue, and hundreds are worth as few as tens.
func (x *sweeper) usually(ctx context.Context, rates []float64) ([]float64, error) {
	s := x.answer()
	if s == nil || !s.Rate.Known() {
		return rates, nil
	}
	shares := usualShares()
	for _, share := range slices.Backward(shares) {
		rate := share * s.Rate.Value()
		if len(rates) == 0 || x.Short() || x.near(rate) {
			continue
		}
		st := x.gridRow(rate)
		percentiles, most := []float64{0.95}, x.Pace().StageTime
		if share < slices.Max(shares) {
			percentiles, most = []float64{0.95, 0.99}, x.stageTimes(halfTime)
		}
		st.MaxTime = max(st.MaxTime, most)
		for _, p := range percentiles {
			if n := experiment.RequestsFor(p); float64(n) <= rate*most.Seconds() {
				st.MinRequests = max(st.MinRequests, n)
			}
		}
		if _, err := x.Measure(ctx, st); err != nil {
			return rates, err
		}
		away := func(r float64) float64 { return math.Abs(r - rate) }
		nearest := slices.MinFunc(rates, func(a, b float64) int { return cmp.Compare(away(a), away(b)) })
		rates = slices.DeleteFunc(slices.Clone(rates), func(r float64) bool { return r == nearest })
	}
	return rates, nil
}
