package main

import (
	"context"

	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
)

// side returns the configuration of one side.
func (t *target) side(ctx context.Context, plan sweep.Config, dir *rundir.Dir) sweep.Config {
	plan.Caps, plan.Doer, plan.Sources, plan.Log = t.caps, t.client, t.workload.Stage, dir
	plan.Spent = t.spent()
	plan.Warm, plan.Timestamps = t.client.Warm, t.client.Timestamps
	plan.Retokenize = t.retokenize(ctx, false)
	if t.tellsLoad(ctx) {
		plan.Idle, plan.Scrape = t.idle, t.gauges
	}
	return plan
}
