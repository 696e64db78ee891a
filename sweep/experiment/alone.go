package experiment

import (
	"context"
	"errors"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/load"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
)

// loneShare is the part of the time left that a budget gives a single request which is asked alone: one that hangs must
// not take all of it.
const loneShare = 0.25

var errLoneTooLong = errors.New("a single request took too long for the budget")

// sendAlone does the first request of a session outside of any row, and records it. Within a budget a request that
// takes too long is cancelled: it is then incomplete.
func (x *Experiment) sendAlone(
	ctx context.Context, stage string, s load.Session, seq int, epoch time.Time,
) (*client.Result, error) {
	if x.HasBudget() {
		var cancel context.CancelFunc
		limit := max(1, time.Duration(loneShare*float64(x.TimeLeft())))
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errLoneTooLong)
		defer cancel()
	}
	res, err := load.DoOne(ctx, x.config.Doer, x.config.Log, stage, s, seq, epoch)
	if errors.Is(err, errLoneTooLong) {
		res = &client.Result{}
		res.Reset(epoch)
		res.Status = client.StatusIncomplete
		return res, nil
	}
	return res, err
}

// A server can stay slow after an overload although it is idle: a metastable failure (Bronson and others, HotOS 2021).
// The next stage would measure that, and not its own load.

// recoveryStage names the records of the requests that show whether the server has recovered. They are in no row.
const recoveryStage = "recovery"

// awaitRecovery waits after what may have been an overload until a lone request takes no longer than the longest did at
// the start, and where the server was away until one succeeds; for a minute at most.
func (x *Experiment) awaitRecovery(ctx context.Context) error {
	const rest, tries, slow = 10 * time.Second, 6, 1.2
	n := len(x.run.Stages)
	if n == 0 {
		return nil
	}
	last := &x.run.Stages[n-1]
	away := measure.WasAway(last.Invalid)
	tooShort := last.Verdict == rundir.Undecided && last.Role == rundir.Grid && last.Requests.Error == 0
	if !away && (tooShort || last.Verdict == rundir.Stable || last.Verdict == rundir.Closed) {
		return nil
	}
	longest := 0.0
	for i := range x.run.Stages {
		if st := &x.run.Stages[i]; st.Role == rundir.Synchronous {
			longest = st.Latency.Max.Or(0)
		}
	}
	for try := 0; (longest > 0 || away) && try < tries && (!x.HasBudget() || x.TimeLeft() > 2*rest); try++ {
		source := x.config.Sources(recoveryStage)
		if _, err := x.skip(source, recoveryStage); err != nil {
			return err
		}
		s, ok := source.Next()
		if !ok {
			return nil
		}
		s.Turns = s.Turns[:min(1, len(s.Turns))]
		res, err := x.sendAlone(ctx, recoveryStage, s, x.recoveries, time.Now())
		x.recoveries++
		if err != nil || res.Status == client.StatusOK && (away || (res.End-res.Sent).Seconds() <= slow*longest) {
			return err
		}
		if err := x.sleep(ctx, rest); err != nil {
			return err
		}
	}
	return nil
}
