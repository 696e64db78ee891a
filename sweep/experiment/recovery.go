package experiment

import (
	"context"
	"math"
	"slices"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// A server can stay slow after an overload is over, although it is idle: a metastable failure (Bronson and others, HotOS 2021; Huang and
// others, OSDI 2022). The next stage would then measure that, and not its own load. So after each overload one request is sent alone. If it
// is slow, the server is left without load for longer and longer times, until a lone request is fast again.

// recoveryStage names the records of these requests. They are in no row.
const recoveryStage = "recovery"

const (
	staysSlow = 1.15 // times the time per token at the start: more than a lone request usually varies by
	asFast    = 1.08 // times that, again
)

// rests returns how long the server is left without load, one time after the other.
func rests() []time.Duration {
	return []time.Duration{5 * time.Second, 15 * time.Second, 30 * time.Second, 65 * time.Second}
}

// recovery is what is known of how the server recovers.
type recovery struct {
	overload string  // the latest overload that was not checked; empty for none
	alone    float64 // seconds per token of a lone request at the start; 0 where that is not known
	varies   float64 // times that, which one more lone request exceeds once in twenty times by chance; 0 where that is not known
	rest     time.Duration
	hopeless bool // it did not recover
	source   load.Source
	sent     int
}

// overloaded notes that a stage was more than the server takes, or may have been.
func (x *Experiment) overloaded(st *rundir.Stage) {
	switch {
	case st.Role == rundir.Floor && !st.Traits.Whole.Known(): // an answer from a cache has no time per token
		x.recovery.alone = st.InterToken.Or(0)
		x.recovery.varies = predicted(&st.TPOT)
	case st.Role == rundir.Ceiling, st.Rate.Known() && grows(st):
		x.recovery.overload = st.Name
	}
}

// grows reports whether the backlog of a stage was seen to grow, or would have, had the server not refused requests.
func grows(st *rundir.Stage) bool {
	return st.Verdict == rundir.Saturated || st.Verdict == rundir.Shedding || st.Verdict == rundir.Undecided && st.Drift.Low.Or(0) > 0
}

// predicted returns the bound that one more value exceeds once in twenty times, as a multiple of the mean (Student's prediction interval); 0 where the
// spread is not known.
func predicted(d *rundir.Dist) float64 {
	const level = 0.95
	if d.N < 2 || !d.Mean.Known() || !d.Std.Known() || d.Mean.Value() <= 0 {
		return 0
	}
	n := float64(d.N)
	spread := d.Std.Value() / d.Mean.Value() * math.Sqrt(n/(n-1)) // Std is the population's
	return 1 + stats.StudentQuantile(level, n-1)*spread*math.Sqrt(1+1/n)
}

// recover waits until the server is as fast as at the start, if it was overloaded before. Within a budget it waits no longer than between
// any two stages.
func (x *Experiment) recover(ctx context.Context) error {
	r := &x.recovery
	after := r.overload
	r.overload = ""
	if after == "" || r.alone == 0 || r.hopeless || x.HasBudget() && x.TimeLeft() < x.pace.StageTime {
		return nil
	}
	rest := r.rest
	if x.HasBudget() {
		rest = min(rest, x.idleLimit())
	}
	if err := x.sleep(ctx, rest); err != nil {
		return err
	}
	slower, err := x.slower(ctx)
	if err != nil || slower < r.slowFrom() {
		return err
	}
	found := rundir.Recovery{After: after, At: rundir.Exactly(x.Elapsed().Seconds()), Slower: rundir.Exactly(slower)}
	waited, left := rest, time.Duration(1<<62)
	if x.HasBudget() {
		left = x.idleLimit()
	}
	r.hopeless = true
	for _, rest := range rests() {
		if rest <= r.rest {
			continue
		}
		if left -= rest; left < 0 {
			break
		}
		if err := x.sleep(ctx, rest); err != nil {
			return err
		}
		waited += rest
		if slower, err = x.slower(ctx); err != nil {
			return err
		}
		if 0 < slower && slower < max(asFast, r.varies) {
			found.Idle, r.rest, r.hopeless = rundir.Exactly(rest.Seconds()), rest, false
			break
		}
	}
	found.Waited = rundir.Exactly(waited.Seconds())
	x.run.Recoveries = append(x.run.Recoveries, found)
	return x.save()
}

// slowFrom returns how many times as long a token of a lone request takes if the server has become slow. A server whose output comes in bursts, or on a
// busy machine, varies more from request to request than others do.
func (r *recovery) slowFrom() float64 { return max(staysSlow, r.varies) }

// slower returns how many times as long a token of a lone request takes as at the start: by the faster of two requests if the first is slow,
// since one may have met a pause. It is 0 where no answer had tokens enough to tell.
func (x *Experiment) slower(ctx context.Context) (slower float64, err error) {
	const most = 4 // requests
	for seen, tries := 0, 0; seen < 2 && tries < most; tries++ {
		gap, err := x.oneAlone(ctx)
		if err != nil {
			return 0, err
		}
		if gap == 0 {
			continue
		}
		if seen++; slower == 0 || gap < slower*x.recovery.alone {
			slower = gap / x.recovery.alone
		}
		if slower < x.recovery.slowFrom() {
			break
		}
	}
	return slower, nil
}

// oneAlone sends a request and returns its time per token in seconds; 0 where it has none.
func (x *Experiment) oneAlone(ctx context.Context) (float64, error) {
	r := &x.recovery
	if r.source == nil {
		r.source = x.config.Sources(recoveryStage)
		sent, err := x.skip(r.source, recoveryStage) // a run that goes on sends no prompt twice
		if err != nil {
			return 0, err
		}
		r.sent = sent
	}
	r.sent++
	return x.oneOf(ctx, r.source, recoveryStage, r.sent-1)
}

// fewestTokens is of how many tokens an answer must be to tell the time per token: between two of a few it varies too much.
const fewestTokens = 8

// oneOf sends the next request of a source, for a stage that is no row, and returns its time per token in seconds; 0 where it has none.
func (x *Experiment) oneOf(ctx context.Context, source load.Source, stage string, seq int) (float64, error) {
	s, ok := source.Next()
	if !ok {
		return 0, nil
	}
	s.Turns = s.Turns[:min(1, len(s.Turns))]
	res, err := x.one(ctx, stage, s, seq, x.started)
	if err != nil || res.Status != client.StatusOK || res.FirstToken == client.Absent {
		return 0, err
	}
	tokens := max(res.OutputTokens, res.Chunks())
	if tokens < fewestTokens {
		return 0, nil
	}
	return usualGap(res, tokens), nil
}

// usualGap returns the time per token of an answer in seconds, without gaps that are far longer than the others: a server that pauses now
// and then is not slow.
func usualGap(res *client.Result, tokens int) float64 {
	const far = 6 // times the median gap, as stalls are
	span, gaps := res.LastToken-res.FirstToken, slices.Clone(res.Gaps)
	slices.Sort(gaps)
	left := float64(tokens - 1)
	if len(gaps) > 0 {
		perChunk := left / float64(len(gaps))
		for _, g := range gaps {
			if median := gaps[len(gaps)/2]; median > 0 && g > far*median {
				span, left = span-g, left-perChunk
			}
		}
	}
	return span.Seconds() / max(left, 1)
}

// sleep waits, and shows that.
func (x *Experiment) sleep(ctx context.Context, d time.Duration) error {
	for began := time.Now(); d > 0 && time.Since(began) < d; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(time.Second, d-time.Since(began))):
		}
		x.progress(waiting(began, d))
	}
	return nil
}
