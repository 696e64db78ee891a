package load

import (
	"slices"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// turnInfo is what a record has besides the result.
type turnInfo struct {
	stage     string
	seq, turn int
	due       time.Duration // since the stage's start
	queued    time.Duration // held back by the limit on requests in flight
	asked     int           // output tokens
	prompt    int           // tokens of the prompt that the workload wanted; 0 where it did not say
	repeats   int           // tokens of the prompt that were sent before
}

// fillRecord makes r the record of a request that has ended by now. The token counts in r are the result's own slice.
func fillRecord(r *rundir.Record, res *client.Result, s turnInfo, now time.Duration) {
	if res.End == client.Absent { // cancelled
		res.End = now
	}
	*r = rundir.Record{
		Stage: s.stage, Seq: s.seq, Turn: s.turn, Status: string(res.Status), Error: string(res.Class), Message: res.Message,
		HTTP: res.HTTP, AskedTokens: s.asked, TokenSource: res.TokenSource, Finish: res.Finish,
		Due: rundir.Exactly(s.due.Seconds()), Sent: seconds(res.Sent), Headers: seconds(res.Headers),
		FirstToken: seconds(res.FirstToken), FirstAnswer: seconds(res.FirstAnswer), LastToken: seconds(res.LastToken),
		End: seconds(res.End), PromptTokens: tokenNumber(res.PromptTokens), OutputTokens: tokenNumber(res.OutputTokens),
		ReasoningTokens: tokenNumber(res.ReasoningTokens), CachedTokens: tokenNumber(res.CachedTokens),
		Resent: res.Resent, Replica: res.Replica, Counts: res.Counts, GapsUS: slices.Grow(r.GapsUS[:0], len(res.Gaps)),
		Shared: r.Shared[:0],
	}
	if res.Rank > 0 {
		r.Rank = rundir.Exactly(float64(res.Rank - 1))
	}
	if res.Status != client.StatusOK && !r.PromptTokens.Known() && s.turn == 0 {
		r.AskedPrompt = s.prompt
	}
	if res.PromptTokens > 0 {
		r.IdealTokens = min(s.repeats, res.PromptTokens)
	}
	if res.SharedReads > 0 {
		for i := range res.Chunks() {
			if res.Shared.Has(i) {
				r.Shared = append(r.Shared, int32(i))
			}
		}
	}
	if res.ReadDelay.Reads > 0 {
		r.ReadDelay = rundir.Exactly(res.ReadDelay.Max.Seconds())
	}
	if s.queued > 0 {
		r.Queued = rundir.Exactly(s.queued.Seconds())
	}
	if res.Dial > 0 {
		r.Dial = rundir.Exactly(res.Dial.Seconds())
	}
	var sum time.Duration
	var written int64
	for _, g := range res.Gaps { // rounded cumulatively, so that rounding errors do not add up
		sum += g
		us := sum.Round(time.Microsecond).Microseconds()
		r.GapsUS = append(r.GapsUS, us-written)
		written = us
	}
}

func seconds(d time.Duration) rundir.Number {
	if d == client.Absent {
		return rundir.Number{}
	}
	return rundir.Exactly(d.Seconds())
}

func tokenNumber(n int) rundir.Number {
	if n < 0 {
		return rundir.Number{}
	}
	return rundir.Exactly(float64(n))
}
