// Package selftest measures this client on this machine: the processor time per token, the error of timestamps with many streams
// open, the delay of sending, and the memory per stream. The other side is a server in its own process (package paced) that
// writes into each chunk when it was sent. Client, stages and records are the same as in every measurement. The result says up
// to which load measurements on this machine can be trusted; it claims nothing about loads that were not tried.
package selftest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// Options are what is measured. An empty list measures none of its kind.
type Options struct {
	// Command is the beginning of the command line of the helper processes. Followed by "serve" it must call [Serve], followed
	// by "hog" [Hog].
	Command []string
	Streams []int         // numbers of streams open at once, ascending
	Bisect  int           // how often the limit between two numbers of streams is narrowed down, by a number between them
	Busy    bool          // measure each again while other processes keep every core busy
	Rates   []float64     // arrivals per second, ascending
	Hold    time.Duration // how long each load is held
	Decode  time.Duration // how long tokens are decoded as fast as they arrive; 0 for not at all
	// Descriptors is how many files this process may have open; 0 asks the system.
	Descriptors int
	// Progress is called as parts are done; it may be nil.
	Progress func(done, all int)
}

// Default returns the options of a self-test that takes half a minute.
func Default(command []string) Options {
	return Options{
		Command: command, Streams: []int{100, 1000, 5000}, Busy: true, Rates: []float64{10, 100, 1000, 5000},
		Hold: time.Second, Decode: time.Second,
	}
}

// Quick returns the options of a self-test that takes about two seconds, before a run with up to the given number of streams; 0
// where that is not known. Where a level fails, it looks for the limit between this level and the one below, to within a factor of 1.8.
func Quick(command []string, streams int) Options {
	o := Options{
		Command: command, Streams: []int{100, 1000}, Bisect: 2, Rates: []float64{1000},
		Hold: 150 * time.Millisecond, Decode: 50 * time.Millisecond,
	}
	if streams > 1000 {
		o.Streams = []int{1000, 5000}
	}
	return o
}

// Result is what was measured.
type Result struct {
	Started     time.Time     `json:"started"`
	CPUs        int           `json:"cpus"`
	Load        rundir.Number `json:"load_average,omitzero"` // of the minute before it began
	Descriptors int           `json:"descriptors,omitempty"` // how many files may be open; 0 where that is not known
	Timestamps  string        `json:"timestamps"`            // "kernel" or "user"
	Decode      *Decode       `json:"decode,omitempty"`
	Levels      []Level       `json:"levels"`
	Arrivals    []Arrivals    `json:"arrivals"`
	Trust       Trust         `json:"trust"`
}

// bench is the state of a running self-test.
type bench struct {
	Options
	clock pacedClock
	url   string
	dir   string // where records go
	out   *Result
	done  int // parts
}

// Run runs a self-test. It returns an error where nothing can be measured, because there is no helper process or no directory for
// records. Streams that this machine cannot open are part of the result. When ctx ends, the helper processes end too.
func Run(ctx context.Context, o Options) (*Result, error) {
	limit := o.Descriptors
	if limit == 0 {
		limit = client.ReadLimits().Files
	}
	r := &Result{Started: time.Now(), CPUs: runtime.GOMAXPROCS(0), Load: loadAverage(), Descriptors: limit, Timestamps: "user"}
	dir, err := os.MkdirTemp("", "llmsweep-selftest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	server, url, err := startServer(ctx, o.Command)
	if err != nil {
		return nil, err
	}
	defer server.stop()
	b := &bench{Options: o, clock: newPacedClock(), url: url, dir: dir, out: r}
	if err := b.run(ctx); err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // so that the run that follows starts with little memory
	r.Trust = trust(r)
	return r, context.Cause(ctx)
}

func (b *bench) run(ctx context.Context) error {
	b.step(0)
	if b.Decode > 0 {
		d, err := b.decode(ctx)
		if err != nil {
			return err
		}
		b.out.Decode = d
		b.step(1)
	}
	if err := b.search(func(n int) error { return b.streams(ctx, n) }); err != nil {
		return err
	}
	for _, rate := range b.Rates {
		a, err := b.arrivals(ctx, rate)
		if err != nil {
			return err
		}
		b.out.Arrivals = append(b.out.Arrivals, *a)
		b.step(1)
	}
	return nil
}

// search tries the numbers of streams. Where it is to bisect, it stops at the first number that fails, and looks for the limit between
// that and the highest that is good: it halves the distance between their logarithms.
func (b *bench) search(try func(streams int) error) error {
	parts := (len(b.Streams) + b.Bisect) * len(b.conditions())
	before := b.done
	for _, n := range b.Streams {
		if err := try(n); err != nil {
			return err
		}
		if b.Bisect > 0 && trust(b.out).Limit != "" {
			break // more streams fail as well
		}
	}
	for range b.Bisect {
		t := trust(b.out)
		n := between(t.Streams, t.LimitStreams)
		if n == 0 {
			break
		}
		if err := try(n); err != nil {
			return err
		}
	}
	b.step(before + parts - b.done) // those that were not necessary
	slices.SortStableFunc(b.out.Levels, func(x, y Level) int { return cmp.Compare(x.Streams, y.Streams) })
	return nil
}

// between returns the geometric mean of two numbers of streams; 0 where no number is between them. Where no level is good, the search
// goes down to one stream.
func between(good, bad int) int {
	n := int(math.Round(math.Sqrt(float64(max(good, 1)) * float64(bad))))
	if n <= good || n >= bad {
		return 0
	}
	return n
}

// step reports that more parts are done.
func (b *bench) step(more int) {
	b.done += more
	if b.Progress == nil {
		return
	}
	all := (len(b.Streams)+b.Bisect)*len(b.conditions()) + len(b.Rates)
	if b.Decode > 0 {
		all++
	}
	b.Progress(b.done, all)
}

// records returns a new run directory for one stage.
func (b *bench) records() (*store.Dir, error) {
	return store.Create(filepath.Join(b.dir, strconv.Itoa(b.done)))
}

// gone returns the reason why ctx ended, or else err.
func gone(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("the self-test could not measure: %w", err)
}
