package selftest

import (
	"context"
	"errors"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/sweep"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Level is what was measured with one number of streams, under one condition.
type Level struct {
	Streams int     `json:"streams"`
	Rate    float64 `json:"tokens_per_s_per_stream"` // asked for
	Phase   string  `json:"phase"`                   // Uniform or InStep
	Busy    bool    `json:"busy_cores"`

	Failed     int           `json:"failed,omitempty"`  // streams that did not end well
	Failure    string        `json:"failure,omitempty"` // of one of them
	Tokens     int           `json:"tokens"`
	TokensPerS rundir.Number `json:"tokens_per_s,omitzero"` // as the server really sent them
	// Error is the absolute difference between a token's timestamp and the instant at which the server began to write it.
	// Timestamps that the client itself marks as bounds are left out, and counted in Shared.
	Error      Spread        `json:"stamp_error_s"`
	Shared     rundir.Number `json:"shared_reads,omitzero"`      // share of tokens received together with the next one of their stream, though sent apart
	Unstamped  rundir.Number `json:"unstamped_reads,omitzero"`   // share of reads without a timestamp from the kernel
	DelayMean  rundir.Number `json:"read_delay_mean_s,omitzero"` // from the arrival of bytes to their being read
	DelayMax   rundir.Number `json:"read_delay_max_s,omitzero"`
	Cores      rundir.Number `json:"cores,omitzero"`            // processor seconds per second, while all streams ran
	PerStream  rundir.Number `json:"bytes_per_stream,omitzero"` // resident memory, records included; of the first level of each number only
	Limit      string        `json:"limit,omitempty"`           // why the level is not trusted: one of the Limits
	Unmeasured bool          `json:"unmeasured,omitempty"`      // it was not tried
}

// Spread sums up a distribution in seconds.
type Spread struct {
	N    int           `json:"n"`
	P50  rundir.Number `json:"p50,omitzero"`
	P99  rundir.Number `json:"p99,omitzero"`
	P999 rundir.Number `json:"p999,omitzero"`
	Max  rundir.Number `json:"max,omitzero"`
}

// Supported reports whether there are enough values for the p-quantile.
func (s Spread) Supported(p float64) bool { return stats.Supported(float64(s.N), p) }

// spread sums up values in nanoseconds.
func spread(nanos []int64) Spread {
	if len(nanos) == 0 {
		return Spread{}
	}
	seconds := make([]float64, len(nanos))
	for i, n := range nanos {
		seconds[i] = float64(n) / 1e9
	}
	slices.Sort(seconds)
	at := func(p float64) rundir.Number { return rundir.Exactly(stats.Quantile(seconds, p)) }
	return Spread{N: len(seconds), P50: at(0.5), P99: at(0.99), P999: at(0.999), Max: at(1)}
}

// condition is how a number of streams is measured.
type condition struct {
	phase string
	busy  bool
}

func (b *bench) conditions() []condition {
	all := []condition{{Uniform, false}, {InStep, false}}
	if b.Busy {
		all = append(all, condition{Uniform, true}, condition{InStep, true})
	}
	return all
}

// perStream returns the tokens per second of each of n streams: the more streams, the slower each, as with a real server.
func perStream(streams int) float64 {
	switch {
	case streams <= 100:
		return 50
	case streams <= 1000:
		return 33
	}
	return 20
}

// spare is the number of file descriptors for everything other than streams.
const spare = 64

// streams measures n streams under all conditions. Connections are kept from one to the next.
func (b *bench) streams(ctx context.Context, n int) error {
	if limit := b.out.Descriptors; limit > 0 && n+spare > limit {
		for _, c := range b.conditions() {
			b.out.Levels = append(b.out.Levels, Level{
				Streams: n, Rate: perStream(n), Phase: c.phase, Busy: c.busy, Limit: LimitDescriptors, Unmeasured: true,
			})
			b.step(1)
		}
		return nil
	}
	debug.FreeOSMemory()
	empty := resident()
	c, err := b.client(n)
	if err != nil {
		return err
	}
	defer c.CloseIdle()
	for _, cond := range b.conditions() {
		l, err := b.level(ctx, c, n, cond, empty)
		if err != nil {
			return err
		}
		empty = rundir.Number{} // later levels use the memory that earlier ones left
		b.out.Levels = append(b.out.Levels, *l)
		b.step(1)
	}
	b.out.Timestamps = c.Timestamps()
	return nil
}

// level measures one level: a closed loop of n with n requests.
func (b *bench) level(ctx context.Context, c *client.Client, n int, cond condition, empty rundir.Number) (*Level, error) {
	if cond.busy {
		hog, err := start(ctx, b.Command, "hog")
		if err != nil {
			return nil, gone(ctx, err)
		}
		defer hog.stop()
	}
	rate := perStream(n)
	from := source{PacedOrder{Phase: cond.phase, Every: time.Duration(1e9 / rate), Streams: n}, max(int(math.Ceil(rate*b.Hold.Seconds())), 2)}
	w := &witness{Client: c, clock: b.clock, streams: int64(n), every: from.Every}
	looking, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { w.look(looking) })
	_, err := b.stage(ctx, w, c.Warm, nil, experiment.NewStage(arrival.Closed{Concurrency: n}, n, 0), from)
	stop()
	watch.Wait()
	if err != nil {
		return nil, err
	}
	l := w.level(rate, empty)
	l.Phase, l.Busy = cond.phase, cond.busy
	l.Limit = l.limit(b.out.CPUs)
	return l, nil
}

// stage runs one stage and returns what was measured in it.
func (b *bench) stage(ctx context.Context, d load.Doer, warm func(context.Context, int) error, w load.Waiter, s experiment.Stage, from source) (*rundir.Stage, error) {
	dir, err := b.records()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	c := sweep.Defaults()
	c.Doer, c.Warm, c.Waiter, c.Log, c.Warmup, c.MaxErrorRate, c.Drain = d, warm, w, dir, experiment.Warmup{}, 1, time.Second
	c.Sources = func(string) load.Source { return from }
	var run rundir.Run
	err = sweep.Run(ctx, c, []experiment.Stage{s}, &run)
	if err = errors.Join(err, context.Cause(ctx)); err != nil {
		return nil, gone(ctx, err)
	}
	return &run.Stages[0], nil
}

// source gives the same session again and again.
type source struct {
	PacedOrder
	tokens int
}

// Next returns the next session.
func (s source) Next() (load.Session, bool) {
	return load.Session{Turns: []load.Turn{{User: s.PacedOrder.String(), OutputTokens: s.tokens}}}, true
}
