package job

import (
	"context"
	"time"

	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
)

// SweepAll measures for sweep and demo.
func SweepAll(ctx context.Context, c sweep.Config, _ *Target, run *rundir.Run) error {
	return sweep.Sweep(ctx, c, run)
}

// LongestSweep returns how long a sweep sends at most.
func LongestSweep(c *sweep.Config) time.Duration {
	if c.Budget > 0 {
		return c.Budget
	}
	return time.Duration(sweep.MostStages(c)) * (c.StageMax + c.StageTime) // with the tail of each
}
