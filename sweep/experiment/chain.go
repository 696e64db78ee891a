package experiment

import (
	"context"
	"iter"
	"time"

	"llmsweep/sweep/rundir"
)

// Stages that follow one another without a rest: a chained stage ends with its window, and its requests go on in the
// next, which thus begins with a server at work. Its row is summed up when the last of them has ended.

// concludeOpen concludes the stages whose requests have ended, in order. With wait it waits for all of them, as long as
// a backlog may take to end, and then cancels them.
func (x *Experiment) concludeOpen(ctx context.Context, wait bool) (err error) {
	open := x.open
	x.open = nil
	for _, h := range open {
		rest := h.seen.Rest
		if rest != nil && wait {
			select {
			case <-rest.Ended:
			case <-ctx.Done():
			case <-time.After(x.drain()):
			}
			rest.Cancel()
			<-rest.Ended
		}
		if rest != nil && !rest.HasEnded() {
			x.open = append(x.open, h)
			continue
		}
		err = joinErrors(err, x.conclude(ctx, h))
	}
	if wait {
		x.last = nil
	}
	return err
}

// Flush concludes all stages: it waits for their requests.
func (x *Experiment) Flush(ctx context.Context) error { return x.concludeOpen(ctx, true) }

// showPace writes into the row of a chained stage what is known when its window closes, for the plan.
func (x *Experiment) showPace(h *runningStage) {
	if h.seen.Rest == nil {
		return
	}
	row := &x.run.Stages[h.index]
	row.Ended = x.Elapsed().Seconds()
	if h.Paced && h.pace.Latency.Known() {
		row.TokensPerS.Output, row.Latency.Mean = h.pace.Output, h.pace.Latency
		row.Progress.Rate = rundir.Exactly(float64(h.Load.Limit()) / h.pace.Latency.Value())
	}
}

// records yields those of a stage, and of the requests that were in flight when it began, by its clock.
func (x *Experiment) records(h *runningStage) iter.Seq2[*rundir.Record, error] {
	return func(yield func(*rundir.Record, error) bool) {
		for _, earlier := range h.before {
			shift := (earlier.began - h.began).Seconds()
			for r, err := range x.config.Log.Records(earlier.Name) {
				if err == nil {
					if r.End.Or(0)+shift < 0 {
						continue
					}
					r = r.Shifted(shift)
				}
				if !yield(r, err) {
					return
				}
			}
		}
		for r, err := range x.config.Log.Records(h.Name) {
			if !yield(r, err) {
				return
			}
		}
	}
}
