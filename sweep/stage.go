package sweep

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Spec is one stage: what arrives, how much of it may be in flight, and when there is enough.
type Spec struct {
	Name     string // unique in its run
	Kind     string
	Role     string
	Rate     float64 // asked arrivals per second, on average; 0 for a closed loop
	Repeat   int     // which of several stages that measure the same, from 1; 0 where there is one
	Schedule Schedule
	Source   Source
	Waiter   Waiter // for the schedule's instants; nil for a timer
	Bound    int    // in flight at most; 0 for no bound
	// Opening is when each slot of a closed loop is first free, ascending; those beyond it are at once.
	Opening []time.Duration

	From        time.Duration // the window is fixed beforehand, from here to MinTime; 0 where it is found
	MinTime     time.Duration // the stage measures at least this long
	MaxTime     time.Duration // and goes on to this long while it is undecided or has too few requests
	MinRequests int           // due in the window at least
	MinWaves    float64       // a closed loop's window spans at least this many mean latencies
	MaxTasks    int           // so many tasks arrive, and all of them count; 0 where the time decides
	Until       time.Time     // by then the stage is over, its backlog cancelled; zero for no such limit
	Tail        time.Duration // how long load is kept on for the window's requests to end, at most
	Drain       time.Duration // how long the backlog may take to end after that, before it is cancelled

	KeepText     bool    // keep the answers' texts, to be tokenized afterwards
	Caps         *Caps   // limits of a hosted API; nil for none
	MaxErrorRate float64 // the stage ends early when more than this share fails
	Tolerance    float64 // drift below this share of the offered rate is none
}

// closed reports whether requests are due when others end, and not at their own time.
func (s *Spec) closed() bool {
	_, always := s.Schedule.(Always)
	return always
}

// whole reports whether each request counts, from the first to the last: there is no window.
func (s *Spec) whole() bool { return s.MaxTasks > 0 }

// measured is what the runner saw of a stage besides its records.
type measured struct {
	closedAt time.Duration // when the window closed; the stage's last instant of interest
	elapsed  time.Duration // drain included
	flight   *series       // admitted and not ended
	tokens   []float64     // output tokens that arrived in each tick
	owed     []float64     // output tokens asked for and not arrived, at the end of each tick
	tick     time.Duration
	verdict  string // of the look that ended the stage; empty where it ended otherwise
	drift    rundir.Drift
	cpu      float64   // share of all cores that this process took; negative where unknown
	gc       float64   // and that its garbage collector took
	early    note.Note // why the stage ended early
	cut      bool      // interrupted from outside
	gauges   []gauged
	fixed    span // the window, where it was fixed beforehand
}

// stage runs one Spec.
type stage struct {
	*Spec
	doer  Doer
	log   Log
	watch Observer

	scrape func(context.Context) (Gauges, error) // nil where the server tells nothing
	gauges []gauged                              // written by watchServer alone until work is done

	epoch    time.Time
	prepared chan task     // encoded ahead of time
	stop     chan struct{} // closed when no more shall arrive
	paced    chan struct{} // closed when no more do
	slots    chan struct{} // a closed loop's free places
	buffers  sync.Pool     // of *buffers
	work     sync.WaitGroup
	tokens   atomic.Int64 // output tokens that arrived
	asked    atomic.Int64 // output tokens asked for, but for those that their requests ended without

	mu       sync.Mutex
	present  int // due and not ended
	flight   *series
	admitted int
	queue    []chan struct{} // turns that the bound holds back, oldest first
	arrived  int
	ordered  float64 // output tokens asked for by those that arrived
	done     int
	failed   int
	latency  float64       // sum over done, seconds
	emitted  float64       // tokens of those done, as OnToken counted them
	ends     *ends         // a closed loop's waves are counted by them
	closedAt time.Duration // negative until the window closes
	pending  int           // due before the window closed and not ended
	ttft     ring
	itl      ring
	service  ring          // how long requests are being served, without their wait in the server's queue
	quickest time.Duration // the shortest TTFT: one without such a wait
	texts    []answered
	err      error // a record that could not be written, a request that could not be encoded
}

// answered is the text of a request that ended well, reasoning left out.
type answered struct {
	due  float64 // seconds from the stage's start
	text string
}

// task is a Task on its way, its first turn encoded.
type task struct {
	Task
	seq  int
	call *client.Prepared
}

func newStage(spec *Spec, d Doer, l Log, w Observer) *stage {
	tick := min(max(spec.MinTime/200, 10*time.Millisecond), 250*time.Millisecond)
	return &stage{
		Spec: spec, doer: d, log: l, watch: w,
		prepared: make(chan task, 64), stop: make(chan struct{}), paced: make(chan struct{}), slots: make(chan struct{}, max(spec.Bound, 1)),
		flight: newSeries(tick), ends: newEnds(spec.Bound), closedAt: -1,
		buffers: sync.Pool{New: func() any { return &buffers{} }},
	}
}

// run runs the stage to its end, drained. It returns what it saw also when ctx ends; an error is ours, not the server's.
func (s *stage) run(ctx context.Context) (*measured, error) {
	inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	meter := startMeter()
	s.epoch = time.Now()
	s.work.Go(s.prepare)
	s.work.Go(func() { s.pace(inner) })
	var watching sync.WaitGroup
	watching.Go(func() { s.watchServer(inner) })

	idle := make(chan struct{})
	go func() { s.work.Wait(); close(idle) }()
	m := &measured{tick: s.flight.width}
	if s.From > 0 {
		m.fixed = span{s.From.Seconds(), s.MinTime.Seconds()}
	}
	s.measure(ctx, m, idle)
	close(s.stop)
	if m.cut || s.failure() != nil {
		cancel()
	}
	s.drain(ctx, cancel, idle)
	watching.Wait()

	s.mu.Lock()
	defer s.mu.Unlock()
	m.elapsed = s.now()
	s.flight.advance(m.elapsed)
	m.flight, m.cpu, m.gc = s.flight, meter.cpu.fraction(), meter.collected(runtime.GOMAXPROCS(0))
	m.closedAt, m.gauges = s.closedAt, s.gauges
	return m, s.err
}

func (s *stage) now() time.Duration { return time.Since(s.epoch) }

// limit is when the stage must be over.
func (s *stage) limit() time.Duration {
	if s.Until.IsZero() {
		return math.MaxInt64
	}
	return s.Until.Sub(s.epoch)
}

func (s *stage) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// measure watches the stage until its window has closed and the window's requests have ended.
func (s *stage) measure(ctx context.Context, m *measured, idle <-chan struct{}) {
	ticker := time.NewTicker(m.tick)
	defer ticker.Stop()
	looks := looks{spec: s.Spec}
	closed, tailEnds := false, time.Duration(0)
	for counted := int64(0); ; {
		finished := false
		select {
		case <-ctx.Done():
			m.cut = true
		case <-idle: // a source or a limit ran out, and all has ended
			finished = true
		case <-ticker.C:
		}
		now, total := s.now(), s.tokens.Load()
		m.count(float64(total-counted), float64(s.asked.Load()-total), now)
		counted = total
		s.show(now, m)
		switch {
		case m.cut, finished, s.failure() != nil:
			s.close(now)
			return
		case closed:
			if s.settled() || now > tailEnds {
				return
			}
		case s.hopeless(m), looks.enough(s, m, now):
			s.close(now)
			if !m.early.IsZero() {
				return
			}
			closed, tailEnds = true, min(now+s.Tail, s.limit())
		}
	}
}

// count notes tokens that arrived since the last count, and those still owed. A machine that is busy drops ticks: what came in
// them is shared out, so that a sample's place tells its time.
func (m *measured) count(tokens, owed float64, now time.Duration) {
	missing := int(now/m.tick) - len(m.tokens)
	if missing < 1 {
		if n := len(m.tokens); n > 0 {
			m.tokens[n-1] += tokens
			m.owed[n-1] = owed
			return
		}
		missing = 1
	}
	for range missing {
		m.tokens = append(m.tokens, tokens/float64(missing))
		m.owed = append(m.owed, owed)
	}
	for len(m.tokens) > maxTicks {
		m.tokens = mergePairs(m.tokens, func(a, b float64) float64 { return a + b })
		m.owed = mergePairs(m.owed, func(_, b float64) float64 { return b })
		m.tick *= 2
	}
}

// maxTicks bounds the samples of a stage that goes on for hours: neighbours are merged, and the tick doubles.
const maxTicks = 1 << 15

// hopeless ends a stage in which errors dominate.
func (s *stage) hopeless(m *measured) bool {
	const few = 20
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := s.done + s.failed
	if s.MaxErrorRate >= 1 || ended < few || float64(s.failed) <= s.MaxErrorRate*float64(ended) {
		return false
	}
	m.early = noteEndedEarly.New(s.failed, ended)
	return true
}

// close closes the window: what is due from now on only keeps the load up.
func (s *stage) close(now time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closedAt < 0 {
		s.closedAt = now
		s.pending = s.present
	}
}

// settled reports whether every request that was due in the window has ended.
func (s *stage) settled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pending <= 0
}

// drain waits for what is left, and cancels it at the limit or when ctx ends.
func (s *stage) drain(ctx context.Context, cancel func(), idle <-chan struct{}) {
	limit := time.NewTimer(min(s.Drain, s.limit()-s.now()))
	defer limit.Stop()
	ticker := time.NewTicker(250 * time.Millisecond)
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
			s.watch.Progress(s.snapshot(PhaseDraining, s.now(), 0))
			continue
		}
		<-idle // a doer returns soon after its context ends
		return
	}
}

// show tells the observer how the stage stands.
func (s *stage) show(now time.Duration, m *measured) {
	phase := PhaseMeasuring
	s.mu.Lock()
	if s.closedAt >= 0 {
		phase = PhaseTail
	}
	s.mu.Unlock()
	span := min(len(m.tokens), int(2*time.Second/m.tick)+1)
	rate := stats.Mean(m.tokens[len(m.tokens)-span:]) / m.tick.Seconds()
	s.watch.Progress(s.snapshot(phase, now, rate))
}

func (s *stage) snapshot(phase string, now time.Duration, tokens float64) Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Snapshot{
		Phase: phase, Elapsed: now, InFlight: s.flight.level, Done: s.done, Failed: s.failed,
		TTFT: s.ttft.median(), ITL: s.itl.median(), TokensPS: tokens,
	}
}

// ring holds the latest few durations.
type ring struct {
	last [31]time.Duration
	n    int
}

func (r *ring) add(d time.Duration) {
	r.last[r.n%len(r.last)] = d
	r.n++
}

// median is negative while there is nothing.
func (r *ring) median() time.Duration {
	n := min(r.n, len(r.last))
	if n == 0 {
		return -1
	}
	sorted := r.last
	slices.Sort(sorted[:n])
	return sorted[n/2]
}

// describe is the stage as run.json has it before anything was measured.
func (s *Spec) describe(started time.Duration) rundir.Stage {
	return rundir.Stage{
		Name: s.Name, Kind: s.Kind, Role: s.Role, State: rundir.Running, Rate: ratio(s.Rate, 1), Repeat: s.Repeat,
		MaxConcurrency: s.Bound, Started: started.Seconds(), Whole: s.whole(),
	}
}
