// Package measure turns the records of a stage into its metrics. An [Account] follows a stage while it runs, and
// decides when it has gone on for long enough. At the stage's end [Account.Summarize] reads the records once. [Recover]
// does the same for a stage that was killed, from its records alone.
//
// Files have one job each: find.go finds the part of a stage that is measured, verdict.go judges whether the rate was
// sustained, goodput.go counts the requests that met an SLO, and traits.go looks for habits of the server.
package measure

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// Criteria say when a stage has gone on for long enough, and how it is judged.
type Criteria struct {
	Rate        float64 // asked arrivals per second, on average; 0 for a closed loop
	Concurrency int     // most in flight: in a closed loop, the requests in a wave
	Sessions    int     // to be sent; 0 where the time decides
	Whole       bool    // each request counts, from the first to the last: there is no window to find

	Extent
	Arrivals func() arrival.Schedule // of an open loop, drawn again; nil where their number is not exact
	TimeOut  time.Duration           // the stage must be over by then; 0 for no such limit

	MaxErrorRate float64    // the stage ends early when more than this share of its requests fails
	Tolerance    float64    // drift below this share of the rate counts as none
	SLO          []slo.Term // what each request is judged by; nil for nothing
	Turns        float64    // mean number of requests in a session; 0 or 1 where each stands alone
	Capped       bool       // answers end by themselves, at the length asked for at the latest
	LoneLengths  *Shares    // how long answers to lone requests are; nil where that is not known
	// Lone is how long a lone request takes; 0 where that is not known.
	LoneLatency time.Duration
}

// Extent is how long a stage goes on. Times count from its start.
type Extent struct {
	From    time.Duration // the window is fixed, from here to MinTime; 0 where it is to be found
	MinTime time.Duration // the window closes no earlier,
	MaxTime time.Duration // and not much later, while the verdict is undecided or requests are too few
	// the rate is held for so long, unless it is shown not to be sustained; 0 for no longer than it takes to judge it
	Hold        time.Duration
	MinRequests int     // due in the window at least
	MinWaves    float64 // the window of a closed loop spans at least this many mean latencies
	Steady      bool    // it goes on until hit rate and token rate are steady
}

// Tick returns how often a stage is looked at: often enough for its shortest window, and seldom enough to cost nothing.
func (c *Criteria) Tick() time.Duration {
	const perWindow, least, most = 200, 10 * time.Millisecond, 250 * time.Millisecond
	return min(max(c.MinTime/perWindow, least), most)
}

// closed reports whether the stage is a closed loop.
func (c *Criteria) closed() bool { return c.Rate == 0 }

// inWave returns how many requests a wave of a closed loop has. Where all sessions count, they begin in step, and a
// wave is one session in each place: early turns have shorter prompts.
func (c *Criteria) inWave() int {
	if c.Whole {
		return c.Concurrency * max(1, int(math.Round(c.Turns)))
	}
	return c.Concurrency
}

// Account is what is known of a stage. It is a [load.Monitor].
type Account struct {
	Criteria

	mu        sync.Mutex
	closedAt  time.Duration // when the window closed; negative before
	ticks     sample.Ticks  // output tokens that arrived in each tick, and those owed at its end
	waves     *sample.Waves // of a closed loop
	lifeSigns lifeSigns
	cached    cachedTurns // where a stage is to become steady
	counts
	tally           tokenTally
	grouped         bool // some answer told how many tokens each chunk held
	service         serviceTime
	perToken        moments // of the time per token of a request, seconds
	firstTokenWaits waitSeries
	pauses          pauses
	latest          latest
	looks           looks
	outcome
}

// counts counts requests.
type counts struct {
	due         int     // came due
	askedTokens float64 // output tokens that they asked for
	ended       int
	done        int // ended well
	failed      int
	classes     map[string]int // the failures by class; nil for none
	shed        int            // of those that failed: refused, or far shorter than asked
	doneTokens  float64        // output tokens of those done, as counted when they came
	latency     float64        // sum over those done, seconds
	lastEnd     float64        // instant of the last end, in seconds from the stage's start
}

// outcome is how the looks at a stage ended.
type outcome struct {
	verdict        rundir.Verdict // of the look that ended the stage; empty where it ended otherwise
	backlog        rundir.Drift   // and by how much it grew,
	waits          rundir.Drift   // as the waits of a part of the requests did
	hiddenByPauses bool           // its pauses were too long for it to tell anything
	earlyEnd       note.Note      // why the stage ended early
}

// NewAccount returns the account of a stage that has not begun.
func NewAccount(c Criteria) *Account {
	a := &Account{Criteria: c, ticks: sample.Ticks{Width: c.Tick()}, waves: sample.NewWaves(c.inWave()), closedAt: -1,
		pauses: pauses{since: -1}}
	if !c.closed() && !c.Whole && c.MinTime > 0 {
		a.looks.at = c.looksAt()
	}
	return a
}

// Due counts a request that came due and asks for a number of output tokens.
func (a *Account) Due(asked int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.due++
	a.askedTokens += float64(asked)
}

// FirstToken notes a time to first token.
func (a *Account) FirstToken(ttft time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.latest.ttft.add(ttft)
}

// Ended takes in the record of a request, and the number of output tokens that were counted as they came.
func (a *Account) Ended(r *rundir.Record, tokens int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	end := r.End.Value()
	a.ended++
	a.lastEnd = max(a.lastEnd, end)
	if at := rundir.Duration(end); !r.Incomplete() && (a.closedAt < 0 || at <= a.closedAt) {
		a.waves.Add(at)
	}
	a.tally.add(r)
	a.lifeSigns.add(r)
	if r.OK() {
		a.firstTokenWaits.add(r)
	}
	if a.Steady {
		a.cached.add(r)
	}
	a.grouped = a.grouped || len(r.Counts) > 0
	if r.Failed() {
		a.failed++
		if a.classes == nil {
			a.classes = map[string]int{}
		}
		a.classes[r.Error]++
	}
	if r.Shed() {
		a.shed++
	}
	if !r.OK() {
		return
	}
	a.done++
	a.doneTokens += float64(tokens)
	if r.LastToken.Known() {
		a.latency += r.LastToken.Value() - r.Sent.Value()
	}
	if r.FirstToken.Known() {
		a.service.add(r)
	}
	if n := len(r.GapsUS); n > 0 {
		perToken := (r.LastToken.Value() - r.FirstToken.Value()) / float64(n)
		a.latest.itl.add(rundir.Duration(perToken))
		a.perToken.add(perToken)
	}
}

// Tick notes the output tokens that arrived since the last call, and those owed now.
func (a *Account) Tick(now time.Duration, arrived, owed float64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ticks.Add(now, arrived, owed)
	a.pauses.tick(now, a.ticks.Width, a.leastPause(), arrived, owed, a.shed)
}

// leastPause returns how long nothing comes in a pause at least.
func (a *Account) leastPause() time.Duration { return max(leastPause, 2*a.LoneLatency) }

// Closed notes when the window closed.
func (a *Account) Closed(at time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closedAt = at
}

// Recent returns how the stage stands.
func (a *Account) Recent() load.Snapshot {
	const recently = 2 * time.Second
	a.mu.Lock()
	defer a.mu.Unlock()
	s := load.Snapshot{Done: a.done, Failed: a.failed, Errors: maps.Clone(a.classes), TTFT: a.latest.ttft.median(),
		ITL: a.latest.itl.median()}
	s.Until = a.closesAt()
	if n := len(a.ticks.Sums); n > 0 {
		n = min(n, int(recently/a.ticks.Width)+1)
		s.TokensPS = stats.Mean(a.ticks.Sums[len(a.ticks.Sums)-n:]) / a.ticks.Width.Seconds()
	}
	return s
}

// moments are the first two of a series of values.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(v float64) { m.n, m.sum, m.squares = m.n+1, m.sum+v, m.squares+v*v }

// variation returns the coefficient of variation; 0 where it is not known.
func (m *moments) variation() float64 {
	if m.sum <= 0 {
		return 0
	}
	mean := m.sum / m.n
	return math.Sqrt(max(0, m.squares/m.n-mean*mean)) / mean
}

// serviceTime is how long a request is being served, without its wait in the server's queue: from its first token to
// its last, and the shortest time to a first token that was seen.
type serviceTime struct {
	spans    sample.Sample // from the first token to the last, seconds
	quickest float64       // time to a first token, seconds; 0 before there is one
	recent   recent
}

func (s *serviceTime) add(r *rundir.Record) {
	span, ttft := r.LastToken.Value()-r.FirstToken.Value(), r.FirstToken.Value()-r.Sent.Value()
	s.spans.Add(0, span)
	s.quickest = min(cmp.Or(s.quickest, math.Inf(1)), ttft)
	s.recent.add(rundir.Duration(span) + rundir.Duration(s.quickest))
}

// typical returns the median over all requests; 0 where there is none.
func (s *serviceTime) typical() time.Duration {
	if s.spans.Known() == 0 {
		return 0
	}
	return rundir.Duration(s.spans.Quantile(0.5) + s.quickest)
}

// latest is what is shown while a stage runs.
type latest struct {
	ttft, itl recent
}

// recent holds the latest few durations.
type recent struct {
	last [recentValues]time.Duration
	n    int
}

// recentValues is an odd number, so that one of them is the median, and few enough to be sorted at each tick.
const recentValues = 31

func (r *recent) add(d time.Duration) {
	r.last[r.n%len(r.last)] = d
	r.n++
}

// median is negative while there is no value.
func (r *recent) median() time.Duration {
	n := min(r.n, len(r.last))
	if n == 0 {
		return -1
	}
	sorted := r.last
	slices.Sort(sorted[:n])
	return sorted[n/2]
}
