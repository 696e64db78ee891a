package target

import (
	"context"

	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
)

// Side returns the configuration of one side.
func (t *Target) Side(ctx context.Context, plan sweep.Config, dir *rundir.Dir) sweep.Config {
	plan.Caps, plan.Doer, plan.Sources, plan.Log = t.Caps, t.Client, t.Workload.Stage, dir
	plan.Spent = t.Spent()
	plan.Warm, plan.Timestamps = t.Client.Warm, t.Client.Timestamps
	plan.Retokenize = t.Retokenize(ctx, false)
	if t.TellsLoad(ctx) {
		plan.Idle, plan.Scrape = t.Idle, t.Gauges
	}
	return plan
}
