package experiment

import (
	"context"
	"errors"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/load"
)

// loneShare is the part of the time left that a budget gives a single request which is asked alone: one that hangs must not take all of it.
const loneShare = 0.25

var errLoneTooLong = errors.New("a single request took too long for the budget")

// one does the first request of a session outside of any row, and records it. Within a budget a request that takes too long is cancelled: it is then
// incomplete.
func (x *Experiment) one(ctx context.Context, stage string, s load.Session, seq int, epoch time.Time) (*client.Result, error) {
	if !x.HasBudget() {
		return load.One(ctx, x.config.Doer, x.config.Log, stage, s, seq, epoch)
	}
	limit := max(1, time.Duration(loneShare*float64(x.TimeLeft())))
	limited, cancel := context.WithTimeoutCause(ctx, limit, errLoneTooLong)
	defer cancel()
	res, err := load.One(limited, x.config.Doer, x.config.Log, stage, s, seq, epoch)
	if errors.Is(err, errLoneTooLong) {
		res = &client.Result{}
		res.Reset(epoch)
		res.Status = client.StatusIncomplete
		return res, nil
	}
	return res, err
}
