package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ErrClosed is what requests get that Close cut off, or that came after it.
var ErrClosed = errors.New("the simulated server was closed")

// Seq is one request.
type Seq struct {
	PromptTokens    int      // at least 1
	OutputTokens    int      // exactly so many come out; 0: DefaultOutputTokens
	Prefix          []uint64 // hashes of the prompt's leading full blocks, each covering all text before it; may be nil
	ReasoningTokens int      // of OutputTokens, the first that many are reasoning
	Prompt          uint64   // hash of the prompt, for the habit caches; 0: like no other
}

// Usage is what a request came to.
type Usage struct {
	PromptTokens, OutputTokens, ReasoningTokens int
	CachedTokens                                int    // of the prompt, found in the prefix cache
	Finish                                      string // "length", or "abort" where it was cut off
	Preemptions                                 int
}

// Stats is the state of a server, and what it has done so far.
type Stats struct {
	Running, Waiting               int     // sequences
	KVUsage                        float64 // 0 to 1
	Preemptions                    int
	PrefixQueries, PrefixHits      int // prompt tokens looked up in the prefix cache, and found there
	PromptTokens, GenerationTokens int // put through the model (or found in the cache) and sampled
}

// Live runs an engine against time.Now: real time, or the fake time of a synctest bubble.
//
// The engine's own clock advances by exact step times from the instant of an arrival: the driver sleeps to absolute
// instants, and which arrivals a step may serve is decided by when they came and not by when the driver got to it. A
// late timer therefore delays the hearing of a token, but never the server. An arrival or a cancelation at the very
// instant of a step boundary is seen at the next one: so virtual time repeats itself, whichever goroutine ran first.
type Live struct {
	cfg     Config
	epoch   time.Time // engine instants count from here
	wake    chan struct{}
	quit    chan struct{}
	stopped chan struct{}

	mu      sync.Mutex
	engine  *engine
	habits  *behaviour
	now     time.Duration // end of the last step, or of the one under way
	inbox   []*call       // arrived, not yet seen by the engine, in order
	leaving []*call       // abandoned, not yet seen by the engine, in order
	calls   map[*call]struct{}
	closed  bool
}

// Start begins to serve. The caller must Close.
func Start(cfg Config) (*Live, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	l := &Live{
		cfg:     cfg,
		epoch:   time.Now(),
		wake:    make(chan struct{}, 1),
		quit:    make(chan struct{}),
		stopped: make(chan struct{}),
		engine:  newEngine(cfg),
		habits:  newBehaviour(cfg),
		calls:   make(map[*call]struct{}),
	}
	go l.run()
	return l, nil
}

// Close stops the server. Requests under way end with ErrClosed.
func (l *Live) Close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.quit)
	}
	l.mu.Unlock()
	<-l.stopped
}

// Generate queues a request and returns when it has ended. It calls emit for each output token, in order, n counting from
// 1, with the exact instant at which the step ended on the engine's clock; for tokens that leave in one burst (habits
// batches and caches) it calls emit once, with the number of the last. emit is called from the engine's
// goroutine, under its lock: it must not block, nor call the Live. It is not called after Generate has returned.
//
// The error is ErrTooLong, ErrClosed, the context's, a *Refusal or ErrDropped; with ErrClosed and the context's, Usage
// tells how far the request came.
func (l *Live) Generate(ctx context.Context, seq Seq, emit func(n int, at time.Time)) (Usage, error) {
	c, err := l.submit(seq, emit)
	if err != nil {
		return Usage{}, awaitRefusal(ctx, err)
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		l.abandon(c, ctx.Err())
	}
	return c.usage, c.err
}

// Stats tells what the server is doing.
func (l *Live) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.engine
	return Stats{
		Running:          len(e.running),
		Waiting:          e.waiting.n + len(l.inbox),
		KVUsage:          1 - float64(e.free)/float64(e.blocks),
		Preemptions:      e.totals.preemptions,
		PrefixQueries:    e.totals.prefixQueries,
		PrefixHits:       e.totals.prefixHits,
		PromptTokens:     e.totals.promptTokens,
		GenerationTokens: e.totals.outputTokens,
	}
}

// call is one request and the one who waits for it.
type call struct {
	sequence
	live      *Live
	reasoning int
	arrived   time.Duration
	left      time.Duration
	emit      func(n int, at time.Time)
	buffer    buffer
	asks      question      // what it asks
	doomed    bool          // the connection will be dropped: no token is handed out
	done      chan struct{} // closed at the end; ended, usage and err are settled then
	ended     bool
	usage     Usage
	err       error
}

func (l *Live) submit(seq Seq, emit func(n int, at time.Time)) (*call, error) {
	setDefault(&seq.OutputTokens, DefaultOutputTokens)
	if seq.PromptTokens < 1 || seq.OutputTokens < 1 || seq.ReasoningTokens < 0 {
		return nil, fmt.Errorf("a request of %d prompt, %d output and %d reasoning tokens makes no sense",
			seq.PromptTokens, seq.OutputTokens, seq.ReasoningTokens)
	}
	if err := l.cfg.fits(seq.PromptTokens, seq.OutputTokens); err != nil {
		return nil, err
	}
	c := &call{live: l, reasoning: seq.ReasoningTokens, emit: emit, done: make(chan struct{})}
	c.asks = question{seq.Prompt, seq.OutputTokens}
	c.sequence = sequence{client: c, prompt: seq.PromptTokens, output: seq.OutputTokens, prefix: seq.Prefix}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	c.arrived = time.Since(l.epoch)
	queued, err := l.receive(c)
	if err != nil {
		return nil, err
	}
	l.calls[c] = struct{}{}
	if !queued {
		return c, nil
	}
	l.inbox = append(l.inbox, c)
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return c, nil
}

// token is called by the engine, under the lock.
func (c *call) token(n int, last bool) {
	if c.ended || c.doomed {
		return // abandoned, which the engine has not seen yet; or to be dropped
	}
	if c.buffer.releases(c.live.habits, n, last, c.live.now) {
		c.emit(n, c.live.epoch.Add(c.live.now))
	}
	if last {
		c.live.habits.remember(c.asks)
		c.end("length", nil)
	}
}

func (c *call) end(finish string, err error) {
	c.usage = Usage{
		PromptTokens:    c.prompt,
		OutputTokens:    c.generated,
		ReasoningTokens: min(c.reasoning, c.generated),
		CachedTokens:    c.cached,
		Finish:          finish,
		Preemptions:     c.preemptions,
	}
	c.err = err
	c.ended = true
	delete(c.live.calls, c)
	close(c.done)
}

// abandon cuts a call off, unless it has ended already.
func (l *Live) abandon(c *call, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.ended {
		return
	}
	c.left = time.Since(l.epoch)
	l.leaving = append(l.leaving, c)
	c.end("abort", err)
}

// run is the engine's goroutine: step after step, asleep while there is nothing to do.
func (l *Live) run() {
	defer close(l.stopped)
	defer l.abort()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		idle, waiting := l.state()
		if idle && !waiting && !l.awaitArrival() {
			return
		}
		// The first step after a rest serves all who came at the same instant: let each of them get here.
		if idle && !l.sleepUntil(timer, time.Now().Add(1)) {
			return
		}
		end, ok := l.begin(idle)
		if !ok {
			continue
		}
		if end.IsZero() { // frozen
			<-l.quit
			return
		}
		if !l.sleepUntil(timer, end) {
			return
		}
		l.end()
	}
}

func (l *Live) state() (idle, waiting bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.engine.idle(), len(l.inbox) > 0
}

func (l *Live) awaitArrival() bool {
	select {
	case <-l.wake:
		return true
	case <-l.quit:
		return false
	}
}

func (l *Live) sleepUntil(timer *time.Timer, t time.Time) bool {
	timer.Reset(time.Until(t))
	select {
	case <-timer.C:
		return true
	case <-l.quit:
		return false
	}
}

// begin plans a step and returns the instant at which it ends. The step starts where the last one ended or, after a
// rest, at the first arrival. It heeds those who came or left before its start; after a rest, also at its start.
func (l *Live) begin(rested bool) (time.Time, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if rested && len(l.inbox) > 0 {
		l.now = max(l.now, l.inbox[0].arrived)
	}
	seen := func(at time.Duration) bool { return at < l.now || rested && at == l.now }
	n := 0
	for ; n < len(l.leaving) && seen(l.leaving[n].left); n++ {
		l.engine.cancel(&l.leaving[n].sequence)
	}
	l.leaving = slices.Delete(l.leaving, 0, n)
	for n = 0; n < len(l.inbox) && seen(l.inbox[n].arrived); n++ {
		if s := &l.inbox[n].sequence; !s.canceled {
			l.engine.add(s)
		}
	}
	l.inbox = slices.Delete(l.inbox, 0, n)
	d, ok := l.habits.plan(l.engine, l.now)
	if d == endless {
		return time.Time{}, ok
	}
	l.now += d
	return l.epoch.Add(l.now), ok
}

func (l *Live) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.engine.complete()
}

// abort ends what is under way when the server stops.
func (l *Live) abort() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.calls {
		c.end("abort", ErrClosed)
	}
}
