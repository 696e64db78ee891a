package experiment

import (
	"time"

	"llmsweep/sweep/rundir"
)

// StageCost is what a stage takes, in windows: what is in flight at its end must end, and a backlog must drain. With it
// budgets are kept (TestBudgetsAreKept).
const StageCost = 1.25

// Within a budget a stage is at least shortestStage long, or MinLatencies mean latencies: a verdict takes five waves.
const (
	MinLatencies  = 6
	shortestStage = 5 * time.Second
	leastShare    = 1.0 / 20 // of the budget: what is less is not worth another stage
)

// EdgeStages is how many stage times a stage near the saturation rate lasts at most: queues swing slowly there, and what the server has saved up must be used.
const EdgeStages = 6

// Pace is how long stages measure: at least, and at most while they are undecided.
type Pace struct{ StageTime, StageMax time.Duration }

// Pace returns the pace of the stages to come.
func (x *Experiment) Pace() Pace { return x.pace }

// SetPace sets how long the stages to come measure.
func (x *Experiment) SetPace(p Pace) {
	x.pace, x.Ahead.StageTime, x.Ahead.StageMax = p, p.StageTime, p.StageMax
}

// HasBudget reports whether the experiment must end by a time.
func (x *Experiment) HasBudget() bool { return x.config.Budget > 0 }

// TimeLeft returns what is left of the budget; negative where it is used up.
func (x *Experiment) TimeLeft() time.Duration { return x.until - x.Elapsed() }

// Extend makes the budget end later, or earlier where d is negative.
func (x *Experiment) Extend(d time.Duration) { x.until += d }

// Allot shares out what is left of the budget over a number of stages.
func (x *Experiment) Allot(stages int) {
	if !x.HasBudget() {
		return
	}
	const undecided = 1.5 // an undecided stage may be longer by half
	each := max(rundir.Duration(x.TimeLeft().Seconds()/float64(stages)/StageCost), x.Least())
	x.SetPace(Pace{each, time.Duration(undecided * float64(each))})
}

// Latency returns the mean latency of the latest stage in seconds; 0 before the first.
func (x *Experiment) Latency() float64 { return x.latency }

// Least returns the shortest stage that is worth its time.
func (x *Experiment) Least() time.Duration {
	return max(shortestStage, rundir.Duration(MinLatencies*x.latency))
}

// Short reports whether what is left of the budget is too little for another stage.
func (x *Experiment) Short() bool {
	return x.HasBudget() && x.TimeLeft() < max(x.Least(), time.Duration(leastShare*float64(x.config.Budget)))
}
