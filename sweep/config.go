package sweep

import (
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/measure"
)

// Config is the configuration of a sweep or a run: how its stages are measured, and which there are. The zero value of
// a number is not its default: [Defaults] has those.
type Config struct {
	experiment.Config // its Budget sets the stages' time and, where it is short, their number

	Users          bool // stages are numbers of users, up to MaxConcurrency, and not rates
	Points         int  // arrival rates between floor and ceiling
	MaxConcurrency int  // the ceiling is searched for up to this many requests in flight
	// Precision is the share of the mean to within which the means of rows are to be known; 0 for the time that they take
	// by default.
	Precision float64
}

const defaultStageTime = 30 * time.Second

// UsersTime is the least time of a stage of users by default, and a third of the longest: conversations have pauses.
const UsersTime = time.Minute

// Defaults returns the settings of a sweep that was not tuned.
func Defaults() Config {
	return Config{
		Config: experiment.Config{
			Observer: experiment.NoObserver{}, StageTime: defaultStageTime, StageMax: 6 * defaultStageTime, StageRequests: 50,
			Warmup: experiment.Warmup{Auto: true}, Drain: time.Minute, MaxErrorRate: 0.5,
			Tolerance: measure.DefaultTolerance, Seed: 42,
		},
		Points: 7, MaxConcurrency: 512,
	}
}
