package job

import (
	"context"

	"llmsweep/sweep"
	"llmsweep/sweep/rundir/store"
)

// Configure returns c with what measures this server, for the run in dir. Where recount is set, answers are tokenized again if that is
// possible.
func (t *Target) Configure(ctx context.Context, c sweep.Config, dir *store.Dir, recount bool) sweep.Config {
	sender := t.Sender()
	c.Doer, c.Warm, c.Timestamps = sender, sender.Warm, sender.Timestamps
	c.Sources, c.Log = t.Workload.Stage, dir
	c.Caps, c.Spent = t.Caps, t.Spent()
	c.Retokenize = t.Retokenize(ctx, recount)
	if t.tellsLoad(ctx) {
		c.Idle, c.Scrape = t.idle, t.gauges
	}
	if t.empties {
		c.Empty = t.emptyCaches
	}
	if len(t.others) > 0 {
		t.share(ctx, &c)
	}
	return c
}
