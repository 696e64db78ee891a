package experiment

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/load"
)

// Warmup is how much is sent before anything is measured: until requests agree, a number of requests, or for a time.
type Warmup struct {
	Auto     bool
	Requests int
	Time     time.Duration
}

// ParseWarmup reads "auto", a number of requests or a duration.
func ParseWarmup(s string) (Warmup, error) {
	if s == "auto" {
		return Warmup{Auto: true}, nil
	}
	if n, err := strconv.Atoi(s); err == nil && n >= 0 {
		return Warmup{Requests: n}, nil
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return Warmup{Time: d}, nil
	}
	return Warmup{}, fmt.Errorf("%q is not a warm-up: write auto, a number of requests (5) or a time (10s)", s)
}

// String returns the text that [ParseWarmup] reads.
func (w Warmup) String() string {
	switch {
	case w.Auto:
		return "auto"
	case w.Time > 0:
		return w.Time.String()
	}
	return strconv.Itoa(w.Requests)
}

// An automatic warm-up ends when a few requests in a row agree.
const (
	agreeingRequests = 3                    // requests in a row
	agreement        = 1.1                  // ratio of the longest to the shortest time
	schedulerNoise   = 5 * time.Millisecond // a difference that a scheduler makes by itself
	maxWarmups       = 30                   // requests, whether they agree or not
	warmUpShare      = 0.03                 // of a budget, after which no other is sent
)

// warmUpStage names the records of the warm-up. They are in no row.
const warmUpStage = "warm-up"

// WarmUp sends one request after another until the server is warm. The time that it takes in a run that goes on does
// not count.
func (x *Experiment) WarmUp(ctx context.Context) error {
	if x.resumed > 0 {
		latency := x.latency
		defer func() {
			x.latency = latency
			x.setClock(x.resumed)
		}()
	}
	const giveUpAfter = 3 // requests, if all failed: that is for the stages to report
	w, source := x.config.Warmup, x.config.Sources(warmUpStage)
	before, err := x.skip(source, warmUpStage)
	if err != nil {
		return err
	}
	begun := time.Now()
	var pace []time.Duration // per request: time to first token, and from there to the last
	for n := 0; ; n++ {
		enough := n >= w.Requests && time.Since(begun) >= w.Time
		if w.Auto {
			enough = n >= maxWarmups || time.Since(begun) > x.config.StageTime || agree(pace) ||
				x.HasBudget() && float64(time.Since(begun)) > warmUpShare*float64(x.config.Budget)
		}
		if enough {
			return nil
		}
		s, ok := source.Next()
		if !ok {
			return nil
		}
		if len(s.Turns) > 0 {
			x.config.Caps.Wait(ctx, s.Turns[0].PromptTokens+s.Turns[0].OutputTokens)
		}
		res, err := x.sendAlone(ctx, warmUpStage, s, before+n, begun)
		if errors.Is(err, load.ErrSpent) {
			return spendLimit(warmUpStage)
		}
		if err != nil {
			return err
		}
		if res.Status != client.StatusOK {
			if n+1 == giveUpAfter && len(pace) == 0 {
				return nil
			}
			continue
		}
		if res.FirstToken != client.Absent {
			pace = append(pace, res.FirstToken-res.Sent, res.LastToken-res.FirstToken)
		}
		x.latency = (res.End - res.Sent).Seconds()
		x.progress(load.Snapshot{Phase: load.PhaseWarmUp, Elapsed: time.Since(begun), Done: n + 1, TTFT: -1, ITL: -1})
	}
}

// skip takes from a source the sessions that the first part of a run sent of it in a stage, so that no prompt is sent
// twice and no record has the name of another. It returns their number.
func (x *Experiment) skip(source load.Source, stage string) (sent int, err error) {
	for _, err := range x.config.Log.Records(stage) {
		if err != nil {
			return sent, err
		}
		source.Next()
		sent++
	}
	return sent, nil
}

// agree reports whether the latest requests agree in both times.
func agree(pace []time.Duration) bool {
	if len(pace) < 2*agreeingRequests {
		return false
	}
	last := pace[len(pace)-2*agreeingRequests:]
	for part := range 2 {
		low, high := last[part], last[part]
		for i := part; i < len(last); i += 2 {
			low, high = min(low, last[i]), max(high, last[i])
		}
		if high-low > schedulerNoise && float64(high) > agreement*float64(low) {
			return false
		}
	}
	return true
}
