package job

import (
	"context"

	"llmsweep/sweep"
	"llmsweep/sweep/cluster"
	"llmsweep/sweep/rundir/store"
)

// configure returns c with what measures this server, for the run in dir. With recount, answers are tokenized again if
// that is possible.
func (t *Target) configure(ctx context.Context, c sweep.Config, dir *store.Dir, recount bool) sweep.Config {
	sender := t.Sender()
	c.Doer, c.Warm, c.Timestamps = sender, warming(sender, t.maxConns), sender.Timestamps
	c.Sources, c.Log = t.Workload.Stage, dir
	c.Caps, c.Spent = t.Caps, t.readSpent()
	c.Retokenize = t.retokenizer(ctx, recount)
	if t.tellsLoad(ctx) {
		c.Idle, c.Scrape = t.allIdle, t.allGauges
	}
	if t.resetCache {
		c.Empty = t.emptyCaches
	}
	return c
}

// warmBatch is how many connections are opened at once. A server has a queue for those that it has not accepted yet,
// most often of 128 to 4096: what does not fit is tried again after a second.
const warmBatch = 128

// warming returns what opens connections ahead, at most as many as this machine lets a process have; 0 for no limit.
func warming(s cluster.Sender, most int) func(ctx context.Context, connections int) error {
	return func(ctx context.Context, connections int) (err error) {
		if most > 0 {
			connections = min(connections, most)
		}
		for n := 0; n < connections && err == nil; {
			n = min(n+warmBatch, connections)
			err = s.Warm(ctx, n)
		}
		return err
	}
}
