package sweep

import (
	"math"
	"time"

	"llmsweep/sweep/seconds"
)

// stageCost is what a stage takes, in windows: what is in flight at its end must end, and a backlog must drain. With it
// budgets are kept (TestBudgetsAreKept).
const stageCost = 1.25

// Within a budget a stage is at least this long, or this many mean latencies: a verdict takes five waves. One that only fills what
// is left, far beyond the edge, is worth its time after fewer.
const (
	shortestStage = 5 * time.Second
	minLatencies  = 6
	fillLatencies = 3
	leastShare    = 1.0 / 20 // of the budget: what is less is not worth another stage
)

// allot shares out what is left of the budget over a number of stages.
func (x *Experiment) allot(stages int) {
	if !x.hasBudget() {
		return
	}
	const undecided = 1.5 // an undecided stage may be longer by half
	x.pace.stageTime = max(seconds.Duration(time.Until(x.until).Seconds()/float64(stages)/stageCost), x.least())
	x.pace.stageMax = time.Duration(undecided * float64(x.pace.stageTime))
}

// least returns the shortest stage that is worth its time.
func (x *Experiment) least() time.Duration {
	return max(shortestStage, seconds.Duration(minLatencies*x.latency))
}

// shortestLeft returns the time below which a budget counts as used up, for a stage of a given length.
func (x *Experiment) shortestLeft(stage time.Duration) time.Duration {
	return max(stage, time.Duration(leastShare*float64(x.config.Budget)))
}

// short reports whether what is left of the budget is too little for another stage.
func (x *Experiment) short() bool {
	return x.hasBudget() && time.Until(x.until) < x.shortestLeft(x.least())
}

// leftover reports whether a budget has time left that a last stage beyond the edge can use.
func (x *Experiment) leftover() bool {
	return x.hasBudget() &&
		time.Until(x.until) >= x.shortestLeft(max(shortestStage, seconds.Duration(fillLatencies*x.latency)))
}

// afford returns how many of a number of rates, each measured a number of times, the budget leaves time for, besides one stage beyond
// the edge and a last one to narrow the answer. It shares the time out over them, and notes what that can decide.
func (x *Experiment) afford(points, times int, ceiling float64) int {
	if !x.hasBudget() {
		return points
	}
	others := 2 + x.stagesForSLO()
	left := time.Until(x.until).Seconds() / stageCost
	most := max(0, int(left/x.least().Seconds())-others)
	if times > 1 && most < times {
		x.warn(noteNoTimeRepeats.New(times))
		times, x.pace.repeats, x.run.Plan.Repeats = 1, 1, 0
	}
	points = min(points, most/times)
	stages := points*times + others
	x.allot(stages)
	x.ahead.Rows = points * times
	arrivals := ceiling * left / float64(stages)
	x.config.Observer.Note(noteBudgetPlan.New(time.Until(x.until), points, times, x.pace.stageTime, arrivals, driftKnown(arrivals),
		x.supported(0.95), x.supported(0.99)))
	return points
}

// driftKnown returns about how precisely a stage with n arrivals knows its drift, as a share of the rate: to 3/sqrt(n). The number in a
// busy system is a random walk whose variance grows by one per arrival, and by up to one per departure: by 2n in all. The slope of a line
// through a random walk has 6/5 of the variance of its mean step. A one-sided 95 % bound is then 1.645 sqrt(2 * 6/5) = 2.5 over
// sqrt(n), and Student's t on 5 to 30 batches makes 2.6 to 3 of it.
func driftKnown(n float64) float64 { return 3 / math.Sqrt(n) }

// supported returns the rate from which a stage has the requests for a percentile: five beyond it (see [stats.Supported]).
func (x *Experiment) supported(p float64) float64 {
	const beyond = 5
	return beyond / (1 - p) / x.pace.stageTime.Seconds()
}
