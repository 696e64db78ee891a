package selftest

import (
	"context"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/rundir"
)

// witness is a client that compares the timestamps of its results with the instants that the server wrote into their texts, and
// that records its own use of processor and memory.
type witness struct {
	*client.Client
	clock   pacedClock
	streams int64         // in all
	every   time.Duration // from token to token of a stream

	begun, ended, tokens atomic.Int64
	all, late            sight // the first and the last while all streams ran

	mu      sync.Mutex
	errors  []int64 // nanoseconds
	gaps    int     // between the tokens of a stream, in all
	span    int64   // from the first to the last token of each stream, as the server wrote them, in all, nanoseconds
	shared  int
	delay   client.ReadDelay
	failed  int
	failure string
}

// lookEvery is short against the shortest hold of a level (150 ms).
const lookEvery = 10 * time.Millisecond

// sight is the use of processor and memory at an instant.
type sight struct {
	at     time.Time
	used   time.Duration // processor time
	known  bool
	memory rundir.Number
}

// see returns the present use.
func see() sight {
	used, known := ProcessorTime()
	return sight{time.Now(), used, known, resident()}
}

// Prepare prepares a request whose text is kept.
func (w *witness) Prepare(r *api.Request) (*client.Prepared, error) {
	r.KeepText = true
	return w.Client.Prepare(r)
}

// Do performs a request and compares its result.
func (w *witness) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	tell, first := res.OnToken, true
	res.OnToken = func(n int) {
		if first {
			first = false
			w.begun.Add(1)
		}
		tell(n)
	}
	w.Client.Do(ctx, call, res)
	w.ended.Add(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take(res)
}

// take compares a result's timestamps with those in its text.
func (w *witness) take(res *client.Result) {
	if res.Status != client.StatusOK || len(res.Text) != instantDigits*res.Chunks() {
		w.failed++
		w.failure = res.Message
		return
	}
	w.delay.Reads += res.ReadDelay.Reads
	w.delay.Unstamped += res.ReadDelay.Unstamped
	w.delay.Sum += res.ReadDelay.Sum
	w.delay.Max = max(w.delay.Max, res.ReadDelay.Max)
	var before, began int64
	at := w.clock.Of(res.Epoch) + int64(res.FirstToken)
	for i := range res.Chunks() {
		if i > 0 {
			at += int64(res.Gaps[i-1])
		}
		wrote, err := strconv.ParseInt(string(res.Text[instantDigits*i:instantDigits*(i+1)]), 10, 64)
		if err != nil {
			w.failed++
			w.failure = err.Error()
			return
		}
		w.tokens.Add(1)
		if i == 0 {
			began = wrote
		}
		if i > 0 && res.Shared.Has(i-1) && wrote-before >= int64(w.every)/2 { // unless the server sent them together because it was late itself
			w.shared++
		}
		before = wrote
		if !res.Shared.Has(i) {
			w.errors = append(w.errors, int64(math.Abs(float64(at-wrote))))
		}
	}
	w.gaps += res.Chunks() - 1
	w.span += before - began
}

// look records the use of processor and memory while all streams run, until ctx ends.
func (w *witness) look(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if w.begun.Load() < w.streams {
			continue
		}
		now := see()
		if w.ended.Load() > 0 {
			return
		}
		if w.all.at.IsZero() {
			w.all = now
		}
		w.late = now
	}
}

// level sums up what was compared.
func (w *witness) level(rate float64, empty rundir.Number) *Level {
	tokens := float64(w.tokens.Load())
	l := &Level{
		Streams: int(w.streams), Rate: rate, Failed: w.failed, Failure: w.failure, Tokens: int(tokens), Error: spread(w.errors),
		Shared: share(w.shared, int(tokens)), Unstamped: share(w.delay.Unstamped, w.delay.Reads+w.delay.Unstamped),
	}
	if w.span > 0 { // each stream's first token begins the time that is counted: streams of uniform phases begin one after the other
		l.TokensPerS = rundir.Exactly(float64(w.streams) * float64(w.gaps) / (float64(w.span) / 1e9))
	}
	if w.delay.Reads > 0 {
		l.DelayMean = rundir.Exactly(w.delay.Sum.Seconds() / float64(w.delay.Reads))
		l.DelayMax = rundir.Exactly(w.delay.Max.Seconds())
	}
	if wall := w.late.at.Sub(w.all.at); wall > 0 && w.all.known {
		l.Cores = rundir.Exactly((w.late.used - w.all.used).Seconds() / wall.Seconds())
	}
	if m := w.late.memory; m.Known() && empty.Known() {
		l.PerStream = rundir.Exactly(max(m.Value()-empty.Value(), 0) / float64(w.streams))
	}
	return l
}

// share returns n as a share of all; absent where all is 0.
func share(n, all int) rundir.Number {
	if all == 0 {
		return rundir.Number{}
	}
	return rundir.Exactly(float64(n) / float64(all))
}
