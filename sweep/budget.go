package sweep

import (
	"math"
	"time"
)

// A stage costs more than its window: what is in flight at its end must end, and a backlog must drain.
const stageCost = 1.25

// Within a budget a stage is at least this long, or this many latencies: a shorter one tells nothing. One that only fills what
// is left, far beyond the edge, tells something after a few.
const (
	shortestStage   = 5 * time.Second
	fewestLatencies = 6
	fillLatencies   = 3
)

// allot shares out what is left of the budget over so many stages.
func (x *experiment) allot(stages int) {
	if x.until.IsZero() {
		return
	}
	x.StageTime = max(duration(time.Until(x.until).Seconds()/float64(stages)/stageCost), x.least())
	x.StageMax = x.StageTime * 3 / 2
}

// least is the shortest stage that is worth its time.
func (x *experiment) least() time.Duration {
	return max(shortestStage, duration(fewestLatencies*x.latency))
}

// short reports whether what is left of the budget is too little for another stage.
func (x *experiment) short() bool {
	return !x.until.IsZero() && time.Until(x.until) < max(x.least(), x.Budget/20)
}

// leftover reports whether a budget has time left that a last stage beyond the edge can use.
func (x *experiment) leftover() bool {
	return !x.until.IsZero() && time.Until(x.until) >= max(shortestStage, duration(fillLatencies*x.latency), x.Budget/20)
}

// afford is how many of so many rates, each measured so many times, the budget leaves time for, besides one stage beyond the
// edge and a last one to narrow the answer; it shares the time out over them, and says what that can decide and what not.
func (x *experiment) afford(points, times int, ceiling float64) int {
	if x.until.IsZero() {
		return points
	}
	others := 2 + x.stagesForSLO()
	left := time.Until(x.until).Seconds() / stageCost
	most := max(0, int(left/x.least().Seconds())-others)
	if times > 1 && most < times {
		x.warn(noteNoTimeRepeats.New(times))
		times, x.Repeats, x.run.Plan.Repeats = 1, 1, 0
	}
	points = min(points, most/times)
	stages := points*times + others
	x.allot(stages)
	x.ahead = stages
	// The drift of a stage with n arrivals is known to about 3/sqrt(n) (METRICS: (3/h)^2 arrivals for a half-width of h).
	arrivals := ceiling * left / float64(stages)
	x.Observer.Note(noteBudgetPlan.New(time.Until(x.until), points, times, x.StageTime, arrivals, 3/math.Sqrt(arrivals),
		x.supported(0.95), x.supported(0.99)))
	return points
}

// supported returns the rate from which a stage has the requests for a percentile.
func (x *experiment) supported(p float64) float64 { return 5 / (1 - p) / x.StageTime.Seconds() }
