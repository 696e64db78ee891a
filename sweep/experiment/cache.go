package experiment

import (
	"context"
	"slices"
	"time"

	"llmsweep/client/note"
)

// Limits of emptying the server's prefix cache.
const (
	maxCacheRefusals = 2                // refusals: then it is not asked again
	emptyLimit       = 30 * time.Second // for one try, of all servers
)

func (x *Experiment) emptyCache(ctx context.Context, stage string) error {
	limit := emptyLimit
	if x.HasBudget() {
		limit = min(limit, x.TimeLeft())
	}
	if x.config.Empty == nil || x.cacheRefusals == maxCacheRefusals || limit <= 0 {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var why note.Note
	err := x.showWait(limit, func() error {
		why = x.config.Empty(limited)
		return context.Cause(ctx)
	})
	if err != nil {
		return err
	}
	if why.IsZero() {
		x.warnOnce(noteCacheEmptied.New())
		return nil
	}
	x.cacheRefusals++
	x.warnOnce(noteCacheKept.New(stage, []note.Note{why}))
	return nil
}

func (x *Experiment) warnOnce(n note.Note) {
	if !slices.ContainsFunc(x.run.Warnings, func(had note.Note) bool { return had.Code == n.Code }) {
		x.Warn(n)
	}
}
