package experiment

import (
	"context"
	"sync"
	"time"

	"llmsweep/sweep/load"
)

// Limits of the wait for an idle server between two stages.
const (
	idleShow  = 250 * time.Millisecond // between two reports of progress
	idleLeast = time.Second            // of a wait, however often the server was busy before
)

type idleState struct {
	stage string // the stage that may have left a backlog; empty where there is none
	busy  int    // waits in a row that the server was busy to the end of
}

// Settle waits until the server says that it is idle, so that the next stage does not begin on another's backlog. It is
// called before a stage, so that nothing is waited for after the last. It returns at once where no stage came before.
func (x *Experiment) Settle(ctx context.Context) error {
	after := x.idle.stage
	limit := x.idleLimit()
	x.idle.stage = ""
	if x.config.Idle == nil || after == "" || limit <= 0 {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := x.showWait(limit, func() error { return x.config.Idle(wait) })
	if wait.Err() == nil {
		x.idle.busy = 0
	} else {
		x.idle.busy++
	}
	if err != nil && ctx.Err() == nil {
		x.Warn(noteNotIdle.New(after, err))
	}
	return context.Cause(ctx)
}

// idleLimit is halved each time that the server was busy to the end of a wait: then others use it, and no wait will
// help.
func (x *Experiment) idleLimit() time.Duration {
	limit := x.drain()
	if x.config.IdleWait > 0 {
		limit = min(limit, x.config.IdleWait)
	}
	limit = max(limit>>min(x.idle.busy, 10), min(limit, idleLeast))
	if x.HasBudget() {
		limit = min(limit, x.TimeLeft())
	}
	return limit
}

func waitSnapshot(since time.Time, most time.Duration) load.Snapshot {
	return load.Snapshot{Phase: load.PhaseIdle, Elapsed: time.Since(since), Until: most, TTFT: -1, ITL: -1}
}

// showWait shows that wait goes on, which takes as long as the limit at most.
func (x *Experiment) showWait(limit time.Duration, wait func() error) error {
	began, over := time.Now(), make(chan struct{})
	var show sync.WaitGroup
	show.Go(func() {
		ticker := time.NewTicker(idleShow)
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
				x.progress(waitSnapshot(began, limit))
			}
		}
	})
	err := wait()
	close(over)
	show.Wait()
	return err
}

func (x *Experiment) sleep(ctx context.Context, d time.Duration) error {
	for began := time.Now(); d > 0 && time.Since(began) < d; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(time.Second, d-time.Since(began))):
		}
		x.progress(waitSnapshot(began, d))
	}
	return nil
}
