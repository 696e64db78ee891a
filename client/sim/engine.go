package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// DefaultOutputTokens is the length of the answer to a request without one, as in vLLM's completions.
const DefaultOutputTokens = 16

// ErrClosed is the error of requests that Close ended, and of requests submitted after it.
var ErrClosed = errors.New("the simulated server was closed")

// Request is one request: its lengths and its options.
type Request struct {
	PromptTokens    int      // at least 1
	OutputTokens    int      // exact length of the answer; 0 for DefaultOutputTokens
	Prefix          []uint64 // hashes of the prompt's leading full blocks, each over all text up to its end; may be nil
	ReasoningTokens int      // how many of the first output tokens are reasoning
}

// Usage is what the server counted for a request.
type Usage struct {
	PromptTokens, OutputTokens, ReasoningTokens int
	CachedTokens                                int    // of the prompt, found in the prefix cache
	Finish                                      string // "length", or "abort" where the request was cancelled
	Preemptions                                 int
}

// Engine runs the scheduler against time.Now: real time, or the virtual time of a synctest bubble.
//
// The engine's own clock advances by exact step times, starting at an arrival. The engine sleeps to absolute instants,
// and a step serves the requests that were submitted before it, whenever the goroutine runs. A late timer therefore
// delays the delivery of a token, but never the simulated server. A request that is submitted or cancelled at the exact
// instant of a step boundary takes effect at the next boundary, so runs in virtual time are repeatable whichever
// goroutine runs first.
type Engine struct {
	cfg     MachineConfig
	epoch   time.Time // origin of the engine's clock
	wake    chan struct{}
	quit    chan struct{}
	stopped chan struct{}

	mu        sync.Mutex
	scheduler *Scheduler
	habits    *behaviour
	now       time.Duration            // end of the last step, or of the current one
	inbox     []*Generation            // submitted, not yet given to the scheduler, in order
	cancelled []*Generation            // cancelled, not yet removed from the scheduler, in order
	active    map[*Generation]struct{} // not ended
	closed    bool
}

// Start starts an engine. The caller must Close it.
func Start(cfg MachineConfig) (*Engine, error) {
	cfg = cfg.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	e := &Engine{
		cfg:       cfg,
		epoch:     time.Now(),
		wake:      make(chan struct{}, 1),
		quit:      make(chan struct{}),
		stopped:   make(chan struct{}),
		scheduler: NewScheduler(cfg),
		habits:    newBehaviour(cfg),
		active:    make(map[*Generation]struct{}),
	}
	go e.run()
	return e, nil
}

// Config returns the engine's configuration with its defaults.
func (e *Engine) Config() MachineConfig { return e.cfg }

// Close stops the engine. Active requests end with ErrClosed.
func (e *Engine) Close() {
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		close(e.quit)
	}
	e.mu.Unlock()
	<-e.stopped
}

// Generate submits a request and waits for its end. It calls emit as [Engine.Submit] does, never after it has returned.
//
// The error is errTooLong, ErrClosed, the context's, a [*Refusal] or ErrDropped. For ErrClosed and the context's, Usage
// counts the tokens generated so far.
func (e *Engine) Generate(ctx context.Context, r Request, emit func(n int, at time.Time)) (Usage, error) {
	g, err := e.Submit(r, emit)
	if err != nil {
		return Usage{}, AwaitRefusal(ctx, err)
	}
	select {
	case <-g.Done():
	case <-ctx.Done():
		g.Cancel(ctx.Err())
	}
	return g.Result()
}

// Stats returns the state of the server.
func (e *Engine) Stats() SchedulerStats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.scheduler.Stats()
	s.Waiting += len(e.inbox)
	return s
}

// EmptyCache empties the prefix cache; false while requests run or wait.
func (e *Engine) EmptyCache() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.scheduler.Idle() || len(e.inbox) > 0 {
		return false
	}
	e.scheduler.cache.Clear()
	return true
}

// Generation is a submitted request.
type Generation struct {
	sequence    Sequence
	engine      *Engine
	reasoning   int
	arrivedAt   time.Duration
	cancelledAt time.Duration
	emit        func(n int, at time.Time)
	buffer      buffer
	willDrop    bool          // see Dropped: no token is delivered
	done        chan struct{} // closed at the end; ended, usage and err stay as they are then
	ended       bool
	usage       Usage
	err         error
}

// Submit queues a request. It calls emit for each output token, in order, n counting from 1, with the exact instant at
// which the step ended on the engine's clock. It calls emit on the engine's goroutine with a lock held, so emit must
// not block and must not call the engine. For tokens that leave in one burst (habits batches and caches) it calls emit
// once, with the number of the last. The error is errTooLong, ErrClosed, a [*Refusal], or about a request that makes no
// sense.
func (e *Engine) Submit(r Request, emit func(n int, at time.Time)) (*Generation, error) {
	r.OutputTokens = cmp.Or(r.OutputTokens, DefaultOutputTokens)
	if r.PromptTokens < 1 || r.OutputTokens < 1 || r.ReasoningTokens < 0 {
		return nil, fmt.Errorf("a request of %d prompt, %d output and %d reasoning tokens makes no sense",
			r.PromptTokens, r.OutputTokens, r.ReasoningTokens)
	}
	if err := e.cfg.Fits(r.PromptTokens, r.OutputTokens); err != nil {
		return nil, err
	}
	g := &Generation{engine: e, reasoning: r.ReasoningTokens, emit: emit, done: make(chan struct{})}
	g.sequence = Sequence{Token: g.token, Prompt: r.PromptTokens, Output: r.OutputTokens, Prefix: r.Prefix}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
	}
	g.arrivedAt = time.Since(e.epoch)
	queued, err := e.receive(g)
	if err != nil {
		return nil, err
	}
	e.active[g] = struct{}{}
	if !queued {
		return g, nil
	}
	e.inbox = append(e.inbox, g)
	select {
	case e.wake <- struct{}{}:
	default:
	}
	return g, nil
}

// Done returns a channel that is closed when the request ends.
func (g *Generation) Done() <-chan struct{} { return g.done }

// Result returns how the request ended. It must be called after Done is closed, or after Cancel.
func (g *Generation) Result() (Usage, error) { return g.usage, g.err }

// CachedTokens returns how many prompt tokens were found in the prefix cache. It must be called after the first token.
func (g *Generation) CachedTokens() int { return g.sequence.Cached }

// Cancel ends the request with err, unless it has ended.
func (g *Generation) Cancel(err error) {
	e := g.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if !g.ended {
		g.cancel(err)
	}
}

// cancel is called under the lock, for a request that has not ended.
func (g *Generation) cancel(err error) {
	e := g.engine
	g.cancelledAt = time.Since(e.epoch)
	e.cancelled = append(e.cancelled, g)
	g.end("abort", err)
}

// token is called by the scheduler, with the engine's lock held.
func (g *Generation) token(n int, last bool) {
	if g.ended || g.willDrop { // ended: cancelled, and the scheduler does not know yet
		return
	}
	e := g.engine
	if g.buffer.flushes(e.habits.Bursts, n, last, e.now) {
		g.emit(n, e.epoch.Add(e.now))
	}
	if last {
		g.end("length", nil)
	}
}

// end is called under the engine's lock.
func (g *Generation) end(finish string, err error) {
	g.usage = Usage{
		PromptTokens:    g.sequence.Prompt,
		OutputTokens:    g.sequence.Generated,
		ReasoningTokens: min(g.reasoning, g.sequence.Generated),
		CachedTokens:    g.sequence.Cached,
		Finish:          finish,
		Preemptions:     g.sequence.Preemptions,
	}
	g.err = err
	g.ended = true
	delete(g.engine.active, g)
	close(g.done)
}

func (e *Engine) run() {
	defer close(e.stopped)
	defer e.abort()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		idle, waiting := e.state()
		if idle && !waiting && !e.awaitArrival() {
			return
		}
		// The first step after an idle period serves all requests of the same instant: let them all be submitted.
		if idle && !e.sleepUntil(timer, time.Now().Add(1)) {
			return
		}
		end, ok := e.beginStep(idle)
		if !ok {
			continue
		}
		if end.IsZero() { // frozen
			<-e.quit
			return
		}
		if !e.sleepUntil(timer, end) {
			return
		}
		e.endStep()
	}
}

func (e *Engine) state() (idle, waiting bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.scheduler.Idle(), len(e.inbox) > 0
}

// awaitArrival returns false when the engine is closed.
func (e *Engine) awaitArrival() bool {
	select {
	case <-e.wake:
		return true
	case <-e.quit:
		return false
	}
}

// sleepUntil returns false when the engine is closed.
func (e *Engine) sleepUntil(timer *time.Timer, t time.Time) bool {
	timer.Reset(time.Until(t))
	select {
	case <-timer.C:
		return true
	case <-e.quit:
		return false
	}
}

// beginStep plans a step and returns the instant of its end, zero for a server that freezes; ok is false where there is
// nothing to compute. The step starts where the last one ended or, after an idle period, at the first arrival. It takes
// into account what was submitted or cancelled before its start and, after an idle period, also at its start.
func (e *Engine) beginStep(afterIdle bool) (end time.Time, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if afterIdle && len(e.inbox) > 0 {
		e.now = max(e.now, e.inbox[0].arrivedAt)
	}
	takesEffect := func(at time.Duration) bool { return at < e.now || afterIdle && at == e.now }
	n := 0
	for ; n < len(e.cancelled) && takesEffect(e.cancelled[n].cancelledAt); n++ {
		e.scheduler.Cancel(&e.cancelled[n].sequence)
	}
	e.cancelled = slices.Delete(e.cancelled, 0, n)
	for n = 0; n < len(e.inbox) && takesEffect(e.inbox[n].arrivedAt); n++ {
		if s := &e.inbox[n].sequence; !s.Canceled {
			e.scheduler.Add(s)
		}
	}
	e.inbox = slices.Delete(e.inbox, 0, n)
	d, ok := e.habits.plan(e.scheduler, e.now)
	if d == endless {
		return time.Time{}, ok
	}
	e.now += d
	return e.epoch.Add(e.now), ok
}

func (e *Engine) endStep() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.scheduler.Complete()
}

func (e *Engine) abort() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for g := range e.active {
		g.end("abort", ErrClosed)
	}
}
