// Package selftest measures what this client can do on this machine: the processor time of a token, the error of its
// timestamps and its memory with many streams open, and how late it sends. The other side is a server in a process of
// its own, which writes into each token when it was sent. Client, stages and records are those of every measurement.
package selftest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/stats"
)

// Options are what is measured.
type Options struct {
	Command     []string      // command line of a process that calls [Serve]
	Streams     []int         // numbers of streams open at once, ascending
	Rates       []float64     // arrivals per second, ascending
	Hold        time.Duration // how long each load is held
	Decode      time.Duration // how long tokens are decoded as fast as they arrive
	Descriptors int           // how many files this process may have open; 0 asks the system
}

// Default returns the options of a self-test that takes ten seconds.
func Default(command []string) Options {
	return Options{
		Command: command, Streams: []int{100, 1000, 5000}, Rates: []float64{10, 100, 1000, 5000}, Hold: time.Second,
		Decode: time.Second,
	}
}

// Quick returns the options of a self-test that takes about two seconds, before a run with up to a number of streams; 0
// where that is not known.
func Quick(command []string, streams int) Options {
	o := Options{Command: command, Streams: []int{100, 1000}, Rates: []float64{1000}, Hold: 150 * time.Millisecond,
		Decode: 50 * time.Millisecond}
	if streams > 1000 {
		o.Streams = []int{1000, 5000}
	}
	return o
}

// Result is what was measured.
type Result struct {
	Started     time.Time       `json:"started"`
	CPUs        int             `json:"cpus"`
	Load        rundir.Number   `json:"load_average,omitzero"` // of the minute before it began
	Descriptors int             `json:"descriptors,omitempty"` // how many files may be open; 0 where that is not known
	Timestamps  string          `json:"timestamps"`            // "kernel" or "user"
	Decode      Decode          `json:"decode"`
	Levels      []Level         `json:"levels"`
	Arrivals    []Arrivals      `json:"arrivals"`
	Trust       rundir.Selftest `json:"trust"` // the highest loads within the limits, all lower ones being within them too
}

// Decode is the cost of a token to this client, from the socket to the result, when many tokens wait to be read.
type Decode struct {
	Events   int           `json:"events"`
	PerEvent rundir.Number `json:"cpu_per_event_s,omitzero"` // processor time of this process, the system's part included
}

// Arrivals is what was measured at one rate of Poisson arrivals.
type Arrivals struct {
	Rate   float64 `json:"rate"` // requests per second
	Failed int     `json:"failed,omitempty"`
	Lag    Spread  `json:"written_lag_s"`   // from due to when the first byte was written, connecting included
	Limit  string  `json:"limit,omitempty"` // why the rate is not trusted: one of the Limits
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

// Why a level or a rate is not trusted.
const (
	LimitDescriptors = "descriptors"   // there are more streams than files that may be open
	LimitFailed      = "failed"        // streams or requests failed
	LimitBehind      = "shared_reads"  // the client fell behind and read several tokens of a stream at once
	LimitUnreached   = "not_reached"   // this machine, which also runs the server, did not send that many tokens
	LimitError       = "stamp_error"   // timestamps were wrong by too much
	LimitLag         = "lag"           // requests were sent late
	LimitUnknown     = "nothing_known" // there was nothing to compare
)

// The limits: an error of 1 ms is a small part of any latency that users notice. With more than 1 % of tokens read
// together with the next, a p99 of gaps is no longer the server's. A level that sent less than 90 % of its tokens is
// another level.
const (
	maxBehind = 0.01 // of the tokens
	maxError  = 1e-3 // seconds, p99
	maxLag    = 1e-3 // seconds, p99
	minSent   = 0.9  // of the tokens that a level asks for
)

type bench struct {
	Options
	clock  pacedClock
	url    string
	dir    string // where records go
	stages int
	out    *Result
}

// Run runs a self-test. It returns an error where nothing can be measured, because there is no helper process or no
// directory for records. Streams that this machine cannot open are part of the result. When ctx ends, the helper
// process ends too.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.Descriptors == 0 {
		o.Descriptors = client.ReadLimits().Files
	}
	r := &Result{
		Started: time.Now(), CPUs: runtime.GOMAXPROCS(0), Load: loadAverage(), Descriptors: o.Descriptors, Timestamps: "user",
	}
	dir, err := os.MkdirTemp("", "llmsweep-selftest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	server, url, err := startServer(ctx, o.Command)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	defer server.stop()
	b := &bench{Options: o, clock: newPacedClock(), url: url, dir: dir, out: r}
	if err := b.run(ctx); err != nil {
		return nil, cmp.Or(context.Cause(ctx), fmt.Errorf("the self-test could not measure: %w", err))
	}
	debug.FreeOSMemory() // so that the run that follows starts with little memory
	r.Trust = r.trust()
	return r, nil
}

func (b *bench) run(ctx context.Context) (err error) {
	if b.out.Decode, err = b.decode(ctx); err != nil {
		return err
	}
	for _, n := range b.Streams {
		if err := b.streams(ctx, n); err != nil {
			return err
		}
	}
	for _, rate := range b.Rates {
		a, err := b.arrivals(ctx, rate)
		if err != nil {
			return err
		}
		b.out.Arrivals = append(b.out.Arrivals, a)
	}
	return nil
}

// burst is the number of events in one answer: so many that the cost of the request itself does not count.
const burst = 10_000

func (b *bench) decode(ctx context.Context) (d Decode, err error) {
	c, err := b.client(1)
	if err != nil {
		return d, err
	}
	defer c.CloseIdle()
	call, err := c.Prepare(&api.Request{Messages: []api.Message{{Role: "user", Content: order{}.String()}},
		OutputTokens: burst})
	if err != nil {
		return d, err
	}
	var res client.Result
	ask := func() error {
		res.Reset(time.Now())
		c.Do(ctx, call, &res)
		if res.Status != client.StatusOK || res.Chunks() != burst {
			return errors.New(res.Message)
		}
		return nil
	}
	if err := ask(); err != nil { // connects, and grows buffers that are used again
		return d, err
	}
	from, known := load.ProcessorTime()
	for began := time.Now(); time.Since(began) < b.Decode || d.Events == 0; d.Events += burst {
		if err := ask(); err != nil {
			return d, err
		}
	}
	to, _ := load.ProcessorTime()
	if used := (to - from).Seconds(); known && used > 0 {
		d.PerEvent = rundir.Exactly(used / float64(d.Events))
	}
	return d, nil
}

func (b *bench) client(conns int) (*client.Client, error) {
	return client.New(client.Options{
		URL: b.url, MaxConns: conns, Timeout: time.Minute, Params: api.Params{Model: model, Fields: api.AllFields},
	})
}

func (b *bench) stage(
	ctx context.Context, d load.Doer, warm func(context.Context, int) error, s experiment.Stage, from source,
) (*rundir.Stage, error) {
	b.stages++
	dir, err := store.Create(filepath.Join(b.dir, strconv.Itoa(b.stages)))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	exact := load.NewExactTimer() // as of a run
	defer exact.Close()
	c := sweep.Defaults()
	c.Waiter = exact
	c.Doer, c.Warm, c.Log, c.Warmup, c.MaxErrorRate, c.Drain = d, warm, dir, experiment.Warmup{}, 1, time.Second
	c.Sources = func(string) load.Source { return from }
	var run rundir.Run
	if err := errors.Join(sweep.Run(ctx, c, []experiment.Stage{s}, &run), context.Cause(ctx)); err != nil {
		return nil, err
	}
	return &run.Stages[0], nil
}

// source gives the same session again and again.
type source struct {
	order
	tokens int
}

// Next returns the next session.
func (s source) Next() (load.Session, bool) {
	return load.Session{Turns: []load.Turn{{User: s.order.String(), OutputTokens: s.tokens}}}, true
}

// trust says nothing of loads between two levels: they were not tried.
func (r *Result) trust() rundir.Selftest {
	t := rundir.Selftest{CPUPerEvent: r.Decode.PerEvent, Load: r.Load}
	for i := range r.Levels {
		l := &r.Levels[i]
		if l.Limit != "" {
			t.Limit, t.LimitStreams = l.Limit, l.Streams
			break
		}
		if i+1 < len(r.Levels) && r.Levels[i+1].Streams == l.Streams && r.Levels[i+1].Limit != "" {
			continue // the same streams in step are beyond a limit
		}
		t.Streams = l.Streams
		t.TokensPerS, t.StampErrorP99 = rundir.Max(t.TokensPerS, l.TokensPerS), rundir.Max(t.StampErrorP99, l.Error.P99)
	}
	for _, a := range r.Arrivals {
		if a.Limit != "" {
			break
		}
		t.ArrivalsPerS = rundir.Exactly(a.Rate)
		if a.Lag.Supported(0.99) {
			t.LagP99 = rundir.Max(t.LagP99, a.Lag.P99)
		}
	}
	return t
}

// residentMemory returns the memory that this process occupies, in bytes; absent where the system does not tell.
func residentMemory() rundir.Number {
	b, _ := os.ReadFile("/proc/self/statm")
	var size, pages int
	if n, _ := fmt.Sscan(string(b), &size, &pages); n < 2 {
		return rundir.Number{}
	}
	return rundir.Exactly(float64(pages * os.Getpagesize()))
}

// loadAverage returns how many processes wanted a core in the last minute; absent where the system does not tell.
func loadAverage() rundir.Number {
	b, _ := os.ReadFile("/proc/loadavg")
	var load float64
	if n, _ := fmt.Sscan(string(b), &load); n < 1 {
		return rundir.Number{}
	}
	return rundir.Exactly(load)
}
