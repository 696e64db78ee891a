// Package selftest measures this client on this machine: what a token costs it, how true its instants are under so many
// streams, how late it sends, and how much memory a stream takes. The other side is a server in a process of its own that
// writes into each chunk when it was sent. Clients, stages and records are those of every measurement. It says how far
// figures that were taken here can be trusted, never beyond what it tried.
package selftest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/selftest/paced"
)

// Options say what is measured. The zero value of a list measures none of it.
type Options struct {
	// Command begins the command line of the helper processes: with "serve" after it, it must call [Serve], with "hog"
	// [Hog].
	Command []string
	Streams []int     // open at once, ascending
	Busy    bool      // again beside processes that keep every core busy
	Rates   []float64 // arrivals per second, ascending
	Hold    time.Duration
	Decode  time.Duration // how long tokens are decoded as fast as they come; 0 for not at all
	// Descriptors is how many files this process may have open; 0 asks the system.
	Descriptors int
	// Progress is told how many parts are done; nil for nobody.
	Progress func(done, all int)
}

// Default are the options of a self-test that takes half a minute.
func Default(command []string) Options {
	return Options{
		Command: command, Streams: []int{100, 1000, 5000}, Busy: true, Rates: []float64{10, 100, 1000, 5000},
		Hold: time.Second, Decode: time.Second,
	}
}

// Quick are the options of one that takes two seconds or three, for a plan of so many streams at most; 0 where nobody
// knows.
func Quick(command []string, streams int) Options {
	o := Options{
		Command: command, Streams: []int{100, 1000}, Rates: []float64{1000},
		Hold: 300 * time.Millisecond, Decode: 100 * time.Millisecond,
	}
	if streams > 1000 {
		o.Streams = []int{1000, 5000}
	}
	return o
}

// Result is what was measured: seconds, bytes and plain numbers.
type Result struct {
	Started     time.Time     `json:"started"`
	CPUs        int           `json:"cpus"`
	Load        rundir.Number `json:"load_average,omitzero"` // of the last minute, when it began: others were at work too
	Descriptors int           `json:"descriptors,omitempty"` // how many files may be open; 0 where nobody says
	Timestamps  string        `json:"timestamps"`            // "kernel" or "user"
	Decode      *Decode       `json:"decode,omitempty"`
	Levels      []Level       `json:"levels"`
	Arrivals    []Arrivals    `json:"arrivals"`
	Trust       Trust         `json:"trust"`
}

// bench is a self-test on its way.
type bench struct {
	Options
	clock paced.Clock
	url   string
	dir   string // where records go
	out   *Result
	done  int
}

// Run measures. An error means that nothing could be: no helper process, no directory for records. What this machine
// cannot open is told in the result. When ctx ends, so do the helpers.
func Run(ctx context.Context, o Options) (*Result, error) {
	limit := o.Descriptors
	if limit == 0 {
		limit = descriptors()
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
	b := &bench{Options: o, clock: paced.NewClock(), url: url, dir: dir, out: r}
	if err := b.run(ctx); err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // what comes next begins as if this had not been
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
		b.out.Arrivals = append(b.out.Arrivals, *a)
		b.step(1)
	}
	return nil
}

// step tells that more parts are done.
func (b *bench) step(more int) {
	b.done += more
	if b.Progress == nil {
		return
	}
	all := len(b.Streams)*len(b.conditions()) + len(b.Rates)
	if b.Decode > 0 {
		all++
	}
	b.Progress(b.done, all)
}

// records is a fresh directory for what a stage leaves behind, as every run has one.
func (b *bench) records() (*rundir.Dir, error) {
	return rundir.Create(filepath.Join(b.dir, strconv.Itoa(b.done)))
}

// gone explains an error by what stopped it all, if something did.
func gone(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("the self-test could not measure: %w", err)
}
