// Package load runs one stage: a request comes due, is admitted, sent and followed to its end, and leaves a record. It
// also reads the client's processor time and the server's gauges. It does not judge what it sees: a [Monitor] does, and
// decides when the stage has gone on for long enough.
package load

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/sample"
)

// Stage is the load of one stage, and how it ends.
type Stage struct {
	Name     string           // unique in its run
	Load     arrival.Load     // what the schedule was drawn from, for those that draw it again
	Schedule arrival.Schedule // when sessions are due; nil for a closed loop of Limit requests
	Limit    int              // most requests in flight; 0 for no limit
	// Opening is when each slot of a closed loop is first filled, ascending; slots beyond its end are filled at once.
	Opening []time.Duration
	// Joins are the first sessions, which have begun before the stage: the share of its turns that each has behind it,
	// below 1.
	Joins []float64

	// Start is when the stage begins, as several machines agreed on it; zero for at once.
	Start time.Time
	// Owns reports whether this machine sends a session, by its place in the stage; nil for all. It needs a source and
	// schedule that are the same on all machines.
	Owns func(seq int) bool

	Source Source
	// takes the sessions whose next turn is due after the end of the stage, from several goroutines; nil for none
	Left     func(Session)
	Waiter   Waiter        // for the schedule's instants; nil for Go's timer
	Caps     *Caps         // limits of a hosted API; nil for none
	Exact    bool          // the server keeps to the length asked for: an answer of less than half of it has failed
	KeepText bool          // keep the answers, to be tokenized
	Sessions int           // most sessions; 0 for no limit
	Tick     time.Duration // how often the monitor is asked
	Tail     time.Duration // how long load is kept on for the window's requests to end, at most
	Drain    time.Duration // how long the backlog may take to end after that, before it is cancelled
	TimeOut  time.Duration // the stage is over by then, its backlog cancelled; 0 for no such limit
}

// closed reports whether a request is due when another has ended.
func (s *Stage) closed() bool { return s.Schedule == nil }

// Environment has the client, workload and log of a stage.
type Environment struct {
	Doer     Doer
	Log      Log
	Monitor  Monitor
	Progress func(Snapshot)                        // called at each tick
	Scrape   func(context.Context) (Gauges, error) // reads the server's gauges; nil where it has none
	Every    time.Duration                         // how often it does; 0 for a second
	// takes all readings, some at a time; the slice is used again; nil for none
	Keep func([]Reading) error
	// Settled is told in the tail whether the requests of this machine's window have ended. It reports whether those of
	// all machines have. It is nil where there is one machine.
	Settled func(own bool) bool
}

// Observed is the runner's result of a stage, besides its records.
type Observed struct {
	Began       time.Duration // how late it began, after Stage.Start
	ClosedAt    time.Duration // when the window closed
	Elapsed     time.Duration // drain included
	InFlight    *sample.Level
	CPU         float64   // share of all cores that this process used; negative where unknown
	GC          float64   // share of all cores that its garbage collector used
	Interrupted bool      // from outside
	Spent       bool      // a request was not allowed: see [client.Options].Allowance
	Readings    []Reading // evenly thinned out where there are many
	Answers     []Answer  // where Stage.KeepText is set

	Stopped time.Duration // the longest time for which this process did not run, beyond a tick

	Warnings []note.Note // what a reader must know of the ranks that held it
}

// Answer is the text of a request that ended well, reasoning left out.
type Answer struct {
	Due       time.Duration // since the stage's start
	Text      string        // without reasoning
	Reasoning int           // tokens of reasoning before it, as reported; 0 for none
}

// runner runs one stage.
type runner struct {
	*Stage
	Environment
	epoch  time.Time
	gap    gap
	stop   chan struct{} // closed when no more sessions shall begin
	begun  chan struct{} // closed when no more do
	ready  chan ready    // encoded ahead of time
	slots  chan struct{} // the places of a closed loop
	work   sync.WaitGroup
	spare  sync.Pool // of *buffers
	places admission
	window window

	halt    sync.Once    // closes stop
	spent   atomic.Bool  // a request was not allowed
	arrived atomic.Int64 // output tokens
	owed    atomic.Int64 // output tokens asked for, except those that their requests ended without

	mu      sync.Mutex
	answers []Answer
	err     error // a record that could not be written, a request that could not be encoded
}

// Run runs a stage to its end, drained. It returns what it saw also when ctx ends. An error is the client's own, not
// the server's: a full disk, or a request that cannot be encoded.
func Run(ctx context.Context, s Stage, e Environment) (*Observed, error) {
	r := &runner{
		Stage: &s, Environment: e, stop: make(chan struct{}), begun: make(chan struct{}),
		ready: make(chan ready, preparedAhead),
		slots: make(chan struct{}, max(s.Limit, 1)), window: window{closedAt: -1},
		spare: sync.Pool{New: func() any { return &buffers{} }},
	}
	r.places = admission{limit: s.Limit, clock: r.now, level: sample.NewLevel(s.Tick)}
	if s.closed() {
		r.places.limit = 0 // its slots have admitted each request before it was due
	}
	return r.run(ctx)
}

func (r *runner) run(ctx context.Context) (*Observed, error) {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	r.epoch = time.Now()
	if !r.Start.IsZero() {
		r.epoch = r.Start
	}
	r.work.Go(r.prepare)
	r.awaitStart(ctx)
	seen := &Observed{Began: r.now()}
	meter := startMeter()
	r.work.Go(func() {
		defer close(r.begun)
		if r.closed() {
			r.closedLoop(inner)
		} else {
			r.openLoop(inner)
		}
	})
	var reading sync.WaitGroup
	if r.Scrape != nil {
		reading.Go(func() { seen.Readings = r.read(inner) })
	}
	idle := make(chan struct{})
	go func() { r.work.Wait(); close(idle) }()

	seen.Interrupted = r.measure(ctx, idle)
	r.endSessions()
	seen.Spent = r.spent.Load()
	if seen.Interrupted || r.failure() != nil {
		cancel()
	}
	r.drain(ctx, cancel, idle)
	reading.Wait()
	seen.Stopped = r.gap.longest

	seen.Elapsed, seen.ClosedAt = r.now(), r.window.closedAt
	seen.InFlight, seen.Answers = r.places.close(seen.Elapsed), r.answers
	seen.CPU, seen.GC = meter.cpu.fraction(), meter.collected(runtime.GOMAXPROCS(0))
	return seen, r.err
}

// awaitStart waits until the stage begins, or ctx ends.
func (r *runner) awaitStart(ctx context.Context) {
	timer := time.NewTimer(time.Until(r.epoch))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (r *runner) now() time.Duration { return time.Since(r.epoch) }

// timeOut returns when the stage must be over.
func (r *runner) timeOut() time.Duration {
	if r.TimeOut == 0 {
		return math.MaxInt64
	}
	return r.TimeOut
}

// endSessions lets no more sessions begin.
func (r *runner) endSessions() { r.halt.Do(func() { close(r.stop) }) }

// spendNoMore ends the stage after a request that was not allowed. Requests in flight are paid for, and end by
// themselves.
func (r *runner) spendNoMore() {
	r.spent.Store(true)
	r.endSessions()
}

// giveUp keeps an error of our own, which ends the stage at the next tick.
func (r *runner) giveUp(err error) {
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

// measure watches the stage until its window has closed and the window's requests have ended. It reports whether ctx
// ended first.
func (r *runner) measure(ctx context.Context, idle <-chan struct{}) (interrupted bool) {
	ticker := time.NewTicker(r.Tick)
	defer ticker.Stop()
	phase, tailEnds := PhaseMeasuring, time.Duration(0)
	r.gap.see(time.Now(), 0)
	for counted := int64(0); ; {
		finished := false
		select {
		case <-ctx.Done():
			interrupted = true
		case <-idle: // the source or the schedule has ended, and all requests have
			finished = true
		case <-ticker.C:
		}
		r.gap.see(time.Now(), r.Tick)
		now, arrived := r.now(), r.arrived.Load()
		r.Monitor.Tick(now, float64(arrived-counted), float64(r.owed.Load()-arrived))
		counted = arrived
		r.show(phase, now, tailEnds)
		switch {
		case interrupted, finished, r.failure() != nil, r.spent.Load():
			r.closeWindow(now)
			return interrupted
		case phase == PhaseTail:
			settled := r.window.settled()
			if r.Settled != nil {
				settled = r.Settled(settled)
			}
			if settled || now > tailEnds {
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
			phase, tailEnds = PhaseTail, min(now+r.Tail, r.timeOut())
		}
	}
}

// gap finds the time for which this process did not run: it was stopped, or the machine slept. The clock of a sleeping
// machine may stand still, and that of the wall does not.
type gap struct {
	last    time.Time
	longest time.Duration
}

// see takes in an instant that comes some time after the last one.
func (g *gap) see(now time.Time, after time.Duration) {
	if !g.last.IsZero() {
		slept := now.Round(0).Sub(g.last.Round(0))
		g.longest = max(g.longest, now.Sub(g.last)-after, slept-after)
	}
	g.last = now
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
	most := min(r.Drain, r.timeOut()-r.now())
	until := r.now() + most
	limit := time.NewTimer(most)
	defer limit.Stop()
	speed := speed{seen: []arrivals{{r.now(), r.arrived.Load()}}}
	ticker := time.NewTicker(showEvery)
	defer ticker.Stop()
	for {
		select {
		case <-idle:
			return
		case <-ctx.Done():
			cancel()
		case <-limit.C:
			cancel()
		case <-ticker.C:
			s := r.snapshot(PhaseDraining, r.now(), until)
			s.TokensPS = speed.at(s.Elapsed, r.arrived.Load())
			r.Progress(s)
			continue
		}
		<-idle // a doer returns soon after its context ends
		return
	}
}

// show reports progress. until is when the phase ends at the latest; 0 where the monitor tells.
func (r *runner) show(phase string, now, until time.Duration) {
	r.Progress(r.snapshot(phase, now, until))
}

// snapshot returns how the stage stands.
func (r *runner) snapshot(phase string, now, until time.Duration) Snapshot {
	s := r.Monitor.Recent()
	s.Phase, s.Elapsed, s.InFlight = phase, now, r.places.inFlight()
	if phase != PhaseMeasuring {
		s.Until = until
	}
	return s
}

// speed tells how many tokens a second have arrived lately, while no monitor is told of them. It begins with what had
// arrived before.
type speed struct{ seen []arrivals }

// arrivals is how many tokens had arrived at an instant.
type arrivals struct {
	at     time.Duration
	tokens int64
}

// at returns the tokens per second of the last two seconds.
func (s *speed) at(now time.Duration, tokens int64) float64 {
	const recently = 2 * time.Second
	s.seen = append(s.seen, arrivals{now, tokens})
	for len(s.seen) > 2 && now-s.seen[1].at >= recently {
		s.seen = s.seen[1:]
	}
	first := s.seen[0]
	if now <= first.at {
		return 0
	}
	return float64(tokens-first.tokens) / (now - first.at).Seconds()
}
