// Package load runs one stage: a request comes due, is admitted, sent and followed to its end, and leaves a record. It
// also reads the client's processor time and the server's gauges. It does not judge what it sees: a [Monitor] does, and
// decides when the stage has gone on for long enough.
package load

import (
	"cmp"
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/sample"
)

// Stage is the load of one stage, and how it ends.
type Stage struct {
	Name     string           // unique in its run
	Schedule arrival.Schedule // when sessions are due; nil for a closed loop of Limit requests
	Limit    int              // most requests in flight; 0 for no limit

	Source Source
	// Unfinished takes the sessions whose next turn is due after the end of the stage, from several goroutines; nil for
	// none.
	Unfinished func(Session)
	// Chained lets the stage end with its window: its requests stay in flight into the next stage, and are waited for
	// by [Rest].
	Chained  bool
	Waiter   Waiter // for the schedule's instants; nil for Go's timer
	Caps     *Caps  // limits of a hosted API; nil for none
	KeepText bool   // keep the answers, to be tokenized

	// Opening is when each slot of a closed loop is first filled, ascending; slots beyond its end are filled at once.
	Opening []time.Duration
	// Joins are the first sessions, which have begun before the stage: the share of its turns that each has behind it,
	// below 1.
	Joins    []float64
	Sessions int           // most sessions; 0 for no limit
	Exact    bool          // the server keeps to the length asked for: an answer of less than half of it has failed
	Tick     time.Duration // how often the monitor is asked
	Tail     time.Duration // how long load is kept on for the window's requests to end, at most
	Drain    time.Duration // how long the backlog may take to end after that, before it is cancelled
	TimeOut  time.Duration // the stage is over by then, its backlog cancelled; 0 for no such limit
}

// MaxRateConnections is how many connections are opened ahead of a rate: more take longer to open than its arrivals to
// need them.
const MaxRateConnections = 256

func (s *Stage) closed() bool { return s.Schedule == nil }

// Environment has the client, workload and log of a stage.
type Environment struct {
	Doer        Doer
	Log         Log
	Monitor     Monitor
	Progress    func(Snapshot)                               // called at each tick
	Scrape      func(context.Context) (client.Gauges, error) // reads the server's gauges; nil where it has none
	ScrapeEvery time.Duration                                // how often it does; 0 for a second
	Before      *Rest                                        // what a chained stage left in flight; nil for nothing
	// KeepReadings takes all readings, some at a time, and keeps nothing of the slice; nil where nobody wants them.
	KeepReadings func([]Reading) error
	Others       Others // nil where this process sends all requests
}

// Others are the other processes that send requests of a stage.
type Others interface {
	BeginStage()
	// EndStage returns the largest shares of their cores that one of them and its garbage collector used, negative where
	// they are unknown, and what a reader must know of them.
	EndStage() (cpu, gc float64, warnings []note.Note)
}

// Outcome is the result of a stage, besides its records.
type Outcome struct {
	ClosedAt    time.Duration // when the window closed
	Elapsed     time.Duration // drain included
	InFlight    *sample.Level
	CPU         float64   // share of all cores that this process used; negative where unknown
	GC          float64   // share of all cores that its garbage collector used
	Interrupted bool      // from outside
	Spent       bool      // a request was not allowed: see [client.Options].Allowance
	Readings    []Reading // evenly thinned out where there are many
	Answers     []Answer  // where Stage.KeepText is set

	Rest *Rest // what a chained stage left in flight; nil for another stage

	Stopped time.Duration // the longest time for which this process did not run, beyond a tick

	Warnings []note.Note // what a reader must know of the processes that sent it
}

// Answer is the text of a request that ended well, reasoning left out.
type Answer struct {
	Due       time.Duration // since the stage's start
	Text      string
	Reasoning int // tokens of reasoning before it, as reported; 0 for none
}

type runner struct {
	*Stage
	Environment
	epoch      time.Time
	stalls     stallDetector
	stop       chan struct{}        // closed when no more sessions shall begin
	startsDone chan struct{}        // closed when no more do
	prepared   chan preparedSession // encoded ahead of time
	slots      chan struct{}        // the places of a closed loop
	work       sync.WaitGroup
	buffers    sync.Pool // of *buffers
	admission  admission
	window     window

	stopOnce sync.Once   // closes stop
	spent    atomic.Bool // a request was not allowed
	server   *inServer

	mu      sync.Mutex
	answers []Answer
	err     error // a record that could not be written, a request that could not be encoded
}

// Run runs a stage to its end, drained. It returns what it saw also when ctx ends. An error is the client's own, not
// the server's: a full disk, or a request that cannot be encoded.
func Run(ctx context.Context, s Stage, e Environment) (*Outcome, error) {
	r := &runner{
		Stage: &s, Environment: e, stop: make(chan struct{}), startsDone: make(chan struct{}),
		prepared: make(chan preparedSession, maxPrepared),
		slots:    make(chan struct{}, max(s.Limit, 1)), window: window{closedAt: -1},
		buffers: sync.Pool{New: func() any { return &buffers{} }},
	}
	r.server = &inServer{}
	if e.Before != nil {
		r.server = e.Before.server
	}
	r.admission = admission{limit: s.Limit, server: r.server}
	if s.closed() {
		r.admission.limit = 0 // its slots have admitted each request before it was due
	}
	return r.run(ctx)
}

func (r *runner) run(ctx context.Context) (*Outcome, error) {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if r.Others != nil {
		r.Others.BeginStage()
	}
	r.epoch = time.Now()
	preparing := make(chan struct{})
	r.work.Go(func() {
		defer close(preparing)
		r.prepare()
	})
	out := &Outcome{}
	var places chan struct{}
	if r.closed() {
		places = r.slots
	}
	r.server.begin(r.now, r.Tick, places)
	meter := NewMeter(r.Waiter)
	r.work.Go(func() {
		defer close(r.startsDone)
		if r.closed() {
			r.closedLoop(inner)
		} else {
			r.openLoop(inner)
		}
	})
	var reading sync.WaitGroup
	if r.Scrape != nil {
		reading.Go(func() { out.Readings = r.Gather(inner, r.epoch, r.stop, r.fail) })
	}
	idle := make(chan struct{})
	go func() { r.work.Wait(); close(idle) }()

	out.Interrupted = r.measure(ctx, idle)
	r.endSessions()
	out.Spent = r.spent.Load()
	if out.Interrupted || r.failure() != nil {
		cancel()
	}
	if r.Chained && !out.Interrupted && !out.Spent && r.failure() == nil {
		<-preparing // the source may be that of the next stage
		r.admission.end()
		out.Rest = &Rest{Ended: idle, Cancel: cancel, server: r.server}
	} else {
		r.drain(ctx, cancel, idle)
		cancel()
	}
	reading.Wait()
	out.Stopped = r.stalls.longest

	out.Elapsed, out.ClosedAt = r.now(), r.window.closedAt
	out.InFlight, out.Answers = r.server.end(out.Elapsed), r.answers
	out.CPU, out.GC = meter.Shares()
	if r.Others != nil {
		cpu, gc, warnings := r.Others.EndStage()
		out.CPU, out.GC, out.Warnings = max(out.CPU, cpu), max(out.GC, gc), warnings
	}
	return out, r.err
}

func (r *runner) now() time.Duration { return time.Since(r.epoch) }

func (r *runner) timeOut() time.Duration { return cmp.Or(r.TimeOut, math.MaxInt64) }

func (r *runner) endSessions() { r.stopOnce.Do(func() { close(r.stop) }) }

// fail ends the stage at the next tick with an error of the client's own.
func (r *runner) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

func (r *runner) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// measure returns when the window has closed and its requests have ended, or ctx has.
func (r *runner) measure(ctx context.Context, idle <-chan struct{}) (interrupted bool) {
	ticker := time.NewTicker(r.Tick)
	defer ticker.Stop()
	phase, tailEnds := PhaseMeasuring, time.Duration(0)
	r.stalls.observe(time.Now(), 0)
	var done Work
	for r.server.work(&done); ; {
		finished := false
		select {
		case <-ctx.Done():
			interrupted = true
		case <-idle: // the source or the schedule has ended, and all requests have
			finished = true
		case <-ticker.C:
		}
		r.stalls.observe(time.Now(), r.Tick)
		now := r.now()
		r.Monitor.Tick(now, r.server.work(&done))
		r.Progress(r.snapshot(phase, now, tailEnds))
		switch {
		case interrupted, finished, r.failure() != nil, r.spent.Load():
			r.closeWindow(now)
			return interrupted
		case phase == PhaseTail:
			if r.window.settled() || now > tailEnds {
				return false
			}
			continue
		}
		switch r.Monitor.Decide(now) {
		case Stop:
			r.closeWindow(now)
			return false
		case Close:
			r.closeWindow(now)
			if r.Chained {
				return false
			}
			phase, tailEnds = PhaseTail, min(now+r.Tail, r.timeOut())
		}
	}
}

// stallDetector finds the longest time for which this process did not run: it was stopped, or the machine slept. It
// compares wall clocks too, because the monotonic clock of a sleeping machine may stand still.
type stallDetector struct {
	last    time.Time
	longest time.Duration
}

func (d *stallDetector) observe(now time.Time, tick time.Duration) {
	if !d.last.IsZero() {
		wall := now.Round(0).Sub(d.last.Round(0))
		d.longest = max(d.longest, now.Sub(d.last)-tick, wall-tick)
	}
	d.last = now
}

// closeWindow closes the window: what is due from now on only keeps the load up.
func (r *runner) closeWindow(now time.Duration) {
	if r.window.close(now) {
		r.Monitor.Closed(now)
	}
}

// drain waits for the backlog, and cancels it at the limit or when ctx ends.
func (r *runner) drain(ctx context.Context, cancel func(), idle <-chan struct{}) {
	const showEvery = 250 * time.Millisecond
	limit := min(r.Drain, r.timeOut()-r.now())
	deadline := r.now() + limit
	timer := time.NewTimer(limit)
	defer timer.Stop()
	speed := tokenRate{counts: []tokenCount{{r.now(), r.server.tokens.Load()}}}
	ticker := time.NewTicker(showEvery)
	defer ticker.Stop()
	for {
		select {
		case <-idle:
			return
		case <-ctx.Done():
			cancel()
		case <-timer.C:
			cancel()
		case <-ticker.C:
			s := r.snapshot(PhaseDraining, r.now(), deadline)
			s.TokensPS = speed.rate(s.Elapsed, r.server.tokens.Load())
			r.Progress(s)
			continue
		}
		<-idle // a doer returns soon after its context ends
		return
	}
}

// snapshot returns how far the stage is. deadline is that of the phase; of the measuring phase the monitor knows it.
func (r *runner) snapshot(phase string, now, deadline time.Duration) Snapshot {
	s := r.Monitor.Recent()
	s.Phase, s.Elapsed, s.InFlight = phase, now, r.server.inFlight()
	if phase != PhaseMeasuring {
		s.Until = deadline
	}
	return s
}

// tokenRate computes the tokens per second of a drain, which the monitor does not see.
type tokenRate struct{ counts []tokenCount }

type tokenCount struct {
	at     time.Duration
	tokens int64 // arrived by then
}

// rate returns the tokens per second of the last two seconds.
func (s *tokenRate) rate(now time.Duration, tokens int64) float64 {
	const recently = 2 * time.Second
	s.counts = append(s.counts, tokenCount{now, tokens})
	for len(s.counts) > 2 && now-s.counts[1].at >= recently {
		s.counts = s.counts[1:]
	}
	first := s.counts[0]
	if now <= first.at {
		return 0
	}
	return float64(tokens-first.tokens) / (now - first.at).Seconds()
}
