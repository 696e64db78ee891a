package sweep

import (
	"context"
	"math"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// What is left of a budget once the throughput is known goes to the answer, the hold and the rates below.
const (
	answerShare = 0.2 // of the time, for the stages that find the answer
	edgeStages  = 8   // as many stages as the time is cut into until then
)

// afford returns how many of a number of rates the budget leaves time for, besides the answer and its test. It notes what
// that can decide.
func (x *sweeper) afford(points int, ceiling float64) int {
	if !x.HasBudget() {
		return points
	}
	left := x.TimeLeft().Seconds() / experiment.StageCost
	most := max(0, int((1-answerShare-holdShare)*left/x.Least().Seconds())-x.stagesForSLO())
	points = min(points, max(most, x.usualRows())) // the usual loads sooner than the answer is refined
	x.Allot(edgeStages)
	x.Ahead.Rows = points
	if x.Short() {
		return points // each stage that is left out says so
	}
	hold := holdShare * left
	x.Note(noteBudgetPlan.New(x.TimeLeft(), points, hold, ceiling*hold, driftKnown(ceiling*hold), supported(0.95, hold), supported(0.99, hold)))
	return points
}

// usualShares are the loads, as shares of the throughput, that a short budget measures first: an engineer runs a server there, and not at the edge.
func usualShares() []float64 { return []float64{0.5, 0.8} }

// usualRows returns how many of the usual loads a budget has time for, besides one stage beyond the edge.
func (x *sweeper) usualRows() int {
	left := int(x.TimeLeft().Seconds() / experiment.StageCost / x.Least().Seconds())
	return min(len(usualShares()), max(0, left-1))
}

// usual returns the usual loads that a budget has time for, where they are wanted: the highest where there is time for one alone.
func (x *sweeper) usual(wanted bool) (rates []float64) {
	if !wanted {
		return nil
	}
	shares := usualShares()
	for _, share := range shares[len(shares)-x.usualRows():] {
		rates = append(rates, share*x.ceiling)
	}
	return rates
}

// rows returns the step that measures rates.
func (x *sweeper) rows(rates []float64) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, rate := range rates {
			if err := x.row(ctx, rate, rundir.Grid); err != nil {
				return err
			}
		}
		return nil
	}
}

// driftKnown returns about how precisely a stage with n arrivals knows its drift, as a share of the rate: to 3/sqrt(n). The number in a
// busy system is a random walk whose variance grows by one per arrival, and by up to one per departure: by 2n in all. The slope of a line
// through a random walk has 6/5 of the variance of its mean step. A one-sided 95 % bound is then 1.645 sqrt(2 * 6/5) = 2.5 over
// sqrt(n), and Student's t on 5 to 30 batches makes 2.6 to 3 of it.
func driftKnown(n float64) float64 { return 3 / math.Sqrt(n) }

// supported returns the rate from which a stage of a length in seconds has the requests for a percentile.
func supported(p, seconds float64) float64 { return stats.Needed(p) / seconds }
