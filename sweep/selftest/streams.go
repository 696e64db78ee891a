package selftest

import (
	"context"
	"math"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// Level is what was measured with one number of streams in one phase.
type Level struct {
	Streams int     `json:"streams"`
	Rate    float64 `json:"tokens_per_s_per_stream"` // asked for
	Phase   string  `json:"phase"`                   // Uniform or InStep

	Failed     int           `json:"failed,omitempty"`  // streams that did not end well
	Failure    string        `json:"failure,omitempty"` // of one of them
	Tokens     int           `json:"tokens"`
	TokensPerS rundir.Number `json:"tokens_per_s,omitzero"` // as the server really sent them
	// between a token's timestamp and when the server began to write it; bounds left out
	Error Spread        `json:"stamp_error_s"`
	Cores rundir.Number `json:"cores,omitzero"` // processor seconds per second, while all streams ran
	// resident memory, records included; of the first level of each number only
	PerStream rundir.Number `json:"bytes_per_stream,omitzero"`
	Limit     string        `json:"limit,omitempty"` // why the level is not trusted: one of the Limits
}

// perStream returns the tokens per second of each of n streams: the more streams, the slower each, as with a real
// server.
func perStream(streams int) float64 {
	switch {
	case streams <= 100:
		return 50
	case streams <= 1000:
		return 33
	}
	return 20
}

// spareFiles are for everything other than streams.
const spareFiles = 64

// streams measures n streams in each phase. Connections are kept from one to the next.
func (b *bench) streams(ctx context.Context, n int) error {
	if b.out.Descriptors > 0 && n+spareFiles > b.out.Descriptors {
		b.out.Levels = append(b.out.Levels, Level{Streams: n, Rate: perStream(n), Phase: Uniform, Limit: LimitDescriptors})
		return nil
	}
	debug.FreeOSMemory()
	empty := residentMemory()
	c, err := b.client(n)
	if err != nil {
		return err
	}
	defer c.CloseIdle()
	for _, phase := range []string{Uniform, InStep} {
		l, err := b.level(ctx, c, n, phase, empty)
		if err != nil {
			return err
		}
		empty = rundir.Number{} // the next level uses the memory that this one left
		b.out.Levels = append(b.out.Levels, *l)
	}
	b.out.Timestamps = c.Timestamps()
	return nil
}

// level measures a closed loop of n with n requests.
func (b *bench) level(ctx context.Context, c *client.Client, n int, phase string, empty rundir.Number) (*Level, error) {
	rate := perStream(n)
	from := source{order{Phase: phase, Every: time.Duration(1e9 / rate), Streams: n},
		max(int(math.Ceil(rate*b.Hold.Seconds())), 2)}
	w := &levelClient{Client: c, clock: b.clock, streams: int64(n), every: from.Every}
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { w.watchUsage(watching) })
	_, err := b.stage(ctx, w, c.Warm, experiment.NewStage(arrival.Closed{Concurrency: n}, n, 0), from)
	stop()
	watch.Wait()
	if err != nil {
		return nil, err
	}
	l := w.result(rate, empty)
	l.Phase = phase
	return l, nil
}

// levelClient is a client that compares the timestamps of its results with the instants that the server wrote into
// their texts, and that records its own use of processor and memory.
type levelClient struct {
	*client.Client
	clock   pacedClock
	streams int64         // in all
	every   time.Duration // from token to token of a stream

	begun, ended          atomic.Int64
	firstUsage, lastUsage usage // while all streams ran

	mu      sync.Mutex
	tokens  int
	behind  int     // tokens that were read together with the next one of their stream, though sent apart
	errors  []int64 // nanoseconds
	gaps    int     // between the tokens of a stream, in all
	span    int64   // from the first to the last token of each stream, as the server wrote them, in all, nanoseconds
	failed  int
	failure string
}

type usage struct {
	at     time.Time
	used   time.Duration // processor time
	known  bool
	memory rundir.Number
}

// Prepare prepares a request whose text is kept.
func (w *levelClient) Prepare(r *api.Request) (*client.Prepared, error) {
	r.KeepText = true
	return w.Client.Prepare(r)
}

// Do performs a request and compares its result.
func (w *levelClient) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
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
	w.compare(res)
}

func (w *levelClient) compare(res *client.Result) {
	if res.Status != client.StatusOK || len(res.Text) != instantDigits*res.Chunks() {
		w.failed++
		w.failure = res.Message
		return
	}
	var before, began int64 // when the server wrote the token before, and the first
	at := w.clock.At(res.Epoch) + int64(res.FirstToken)
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
		if i == 0 {
			began = wrote
		}
		// The stamp of a token that was read together with the next is a bound, and is marked so. The server may have
		// sent both together, when it was late itself.
		if i > 0 && res.Shared.Has(i-1) && wrote-before >= int64(w.every)/2 {
			w.behind++
		}
		if !res.Shared.Has(i) {
			w.errors = append(w.errors, int64(math.Abs(float64(at-wrote))))
		}
		w.tokens++
		before = wrote
	}
	w.gaps += res.Chunks() - 1
	w.span += before - began
}

func (w *levelClient) watchUsage(ctx context.Context) {
	ticker := time.NewTicker(10 * time.Millisecond) // short against the shortest hold of a level
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
		used, known := load.ProcessorTime()
		now := usage{time.Now(), used, known, residentMemory()}
		if w.ended.Load() > 0 {
			return
		}
		if w.firstUsage.at.IsZero() {
			w.firstUsage = now
		}
		w.lastUsage = now
	}
}

func (w *levelClient) result(rate float64, empty rundir.Number) *Level {
	l := &Level{Streams: int(w.streams), Rate: rate, Failed: w.failed, Failure: w.failure, Tokens: w.tokens,
		Error: spread(w.errors)}
	// each stream's first token begins the time that is counted: streams of uniform phases begin one after the other
	if w.span > 0 {
		l.TokensPerS = rundir.Exactly(float64(w.streams) * float64(w.gaps) / (float64(w.span) / 1e9))
	}
	if wall := w.lastUsage.at.Sub(w.firstUsage.at); wall > 0 && w.firstUsage.known {
		l.Cores = rundir.Exactly((w.lastUsage.used - w.firstUsage.used).Seconds() / wall.Seconds())
	}
	if m := w.lastUsage.memory; m.Known() && empty.Known() {
		l.PerStream = rundir.Exactly(max(m.Value()-empty.Value(), 0) / float64(w.streams))
	}
	switch {
	case l.Failed > 0:
		l.Limit = LimitFailed
	case l.TokensPerS.Known() && l.TokensPerS.Value() < minSent*l.Rate*float64(l.Streams):
		l.Limit = LimitUnreached
	case float64(w.behind) > maxBehind*float64(l.Tokens):
		l.Limit = LimitBehind
	case l.Error.N == 0:
		l.Limit = LimitUnknown
	case l.Error.P99.Value() > maxError:
		l.Limit = LimitError
	}
	return l
}
