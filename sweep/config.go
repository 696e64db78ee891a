package sweep

import (
	"math/bits"
	"time"

	"llmsweep/sweep/experiment"
)

// Config is the configuration of a sweep or a run: how its stages are measured, and which there are. The zero value of a number is not
// its default: [Defaults] has those.
type Config struct {
	experiment.Config // its Budget sets the stages' time and, where it is short, their number

	Users          bool    // stages are numbers of users, up to MaxConcurrency, and not rates
	Points         int     // arrival rates between floor and ceiling
	MaxConcurrency int     // the ceiling is searched for up to this many requests in flight
	Precision      float64 // the intervals of the answers are narrowed to this share of the rate on either side; 0 for no such aim
	// SLOUntil is when the search for the rate that meets the SLO ends, since the start, with the interval that it has then; 0 for not before it
	// is as narrow as Precision asks.
	SLOUntil time.Duration
}

// MostStages returns how many stages a sweep measures at most, the steps of its search for the ceiling, holds and control measurements
// included.
func MostStages(c *Config) int {
	if c.Users {
		return bits.Len(uint(c.MaxConcurrency)) + maxUserStages
	}
	const floorAndCeiling, controls = 2, 3
	n := floorAndCeiling + bits.Len(uint(c.MaxConcurrency)) + c.Points + len(beyondCeiling()) + maxNarrowing + maxHolds + controls
	if len(c.SLO) > 0 {
		n += maxSLOStages
	}
	return n
}

// stageTime is the least time of a stage by default.
const stageTime = 30 * time.Second

// UsersTime is the least time of a stage of users by default, and a third of the longest: conversations have pauses.
const UsersTime = time.Minute

// Defaults returns the settings of a sweep that was not tuned.
func Defaults() Config {
	return Config{
		Config: experiment.Config{
			Observer: experiment.NoObserver{}, StageTime: stageTime, StageMax: experiment.EdgeStages * stageTime, StageRequests: 50,
			Warmup: experiment.Warmup{Auto: true}, Drain: time.Minute, MaxErrorRate: 0.5, Tolerance: 0.05, Seed: 42,
		},
		Points: 7, MaxConcurrency: 512, Precision: 0.05, SLOUntil: 20 * time.Minute,
	}
}
