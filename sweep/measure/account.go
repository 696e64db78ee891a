// Package measure turns the records of a stage into its metrics. An [Account] follows a stage while it runs, and
// decides when it has gone on for long enough. At the stage's end [Account.Summarize] reads the records once. [Recover]
// does the same for a stage that was killed, from its records alone.
//
// Files have one job each: find.go finds the part of a stage that is measured, verdict.go judges whether the rate was
// sustained, values.go reads the metrics of one request, goodput.go counts the requests that met an SLO, and traits.go
// looks for habits of the server.
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
	Rate        float64 // mean arrivals per second of an open loop; 0 for a closed loop
	Concurrency int     // most requests in flight
	Sessions    int     // number of sessions to be sent; 0 where the stage ends by time
	Whole       bool    // each request counts, and the stage ends with the last answer

	Extent
	Arrivals func() arrival.Schedule // draws the arrivals of an open loop again; nil where their number is not exact
	TimeOut  time.Duration           // by when the last answer must have come; 0 for no limit

	MaxErrorRate float64       // share of failed requests above which the stage ends early
	Tolerance    float64       // share of the rate, or of the requests, below which growth and failures count as none
	SLO          []slo.Term    // terms by which each request is judged; nil for none
	Turns        float64       // mean number of requests in a session; 0 or 1 where each stands alone
	Capped       bool          // answers end by themselves, and are cut at the length asked for
	LoneLengths  *Shares       // lengths of answers to requests sent one at a time; nil where they are not known
	LoneLatency  time.Duration // mean latency of requests sent one at a time; 0 where it is not known
}

// Extent is how long a stage goes on. Times count from its start.
type Extent struct {
	From    time.Duration // when the opening is over; 0 where that is to be found
	MinTime time.Duration // when the window closes at the earliest
	Fixed   bool          // the window is From to MinTime, whatever happens in it
	MaxTime time.Duration // when it closes although the verdict is undecided, or requests are too few
	// Hold is how long a rate is held that is not shown to be too high; 0 where the stage ends with its verdict.
	Hold        time.Duration
	MinRequests int     // least number of requests due in the window
	MinWaves    float64 // least length of a closed loop's window, in mean latencies
	Paced       bool    // a closed loop goes on until the tokens of MinWaves have come since From
	// Wave is how long a request takes in a server that is full from the beginning on; 0 for another.
	Wave        time.Duration
	PromptShare float64 // of its time that such a server spends on prompts
	Quick       bool    // or until what they do is known from the first moments at their number
	Steady      bool    // the stage goes on until hit rate and token rate are steady
	// Precision is the share of the mean to within which the means of an open loop must be known, or the stage goes on
	// until MaxTime; 0 for any.
	Precision float64
}

// The time between two looks at a stage: a share of its shortest window, within bounds at which looking costs nothing.
const (
	ticksInWindow = 200
	minTick       = 10 * time.Millisecond
	maxTick       = 250 * time.Millisecond
)

// Tick returns the time between two looks at a stage.
func (c *Criteria) Tick() time.Duration { return min(max(c.MinTime/ticksInWindow, minTick), maxTick) }

func (c *Criteria) closed() bool { return c.Rate == 0 }

// waveSize is one request for each place, and where all sessions count one session: they begin in step, and early turns
// have shorter prompts.
func (c *Criteria) waveSize() int {
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
	waves     *sample.Waves // ends of the requests of a closed loop
	lifeSigns lifeSigns
	cached    cachedTurns // turns of a stage that is to become steady; else empty
	counts
	tally           tokenTally
	grouped         bool // some answer told how many tokens each chunk held
	service         serviceTime
	timePerToken    total // seconds, by request
	means           means
	firstTokenWaits waitSeries
	pauses          pauses
	looks           looks
	pace            pace

	recentTTFT, recentITL recentTimes // shown while the stage runs

	outcome
}

type counts struct {
	due         int
	askedTokens float64 // output tokens asked for by the requests that came due
	ended       int
	done        int // ended well
	failed      int
	classes     map[string]int // number of failures of each class; nil for none
	shed        int            // failed requests that were refused, or whose answers were far shorter than asked
	doneTokens  float64        // output tokens of the requests done, as counted when they came
	doneLatency float64        // sum of the latencies of the requests done, seconds
	lastEnd     float64        // when the last request ended, in seconds from the stage's start
}

type outcome struct {
	verdict        rundir.Verdict // empty where no look has judged the rate
	backlog        rundir.Drift   // growth of the backlog of all requests
	waits          rundir.Drift   // growth of the waits of the part of the requests for which they grow most
	hiddenByPauses bool           // the server paused for so long that the stage shows nothing of its speed
	earlyEnd       note.Note      // why the stage ended early; zero where it did not
}

// NewAccount returns the account of a stage that has not begun.
func NewAccount(c Criteria) *Account {
	a := &Account{Criteria: c, ticks: sample.Ticks{Width: c.Tick()}, waves: sample.NewWaves(c.waveSize()), closedAt: -1,
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
	a.recentTTFT.add(ttft)
	a.pace.now.firsts++
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
		a.doneLatency += r.LastToken.Value() - r.Sent.Value()
	}
	if r.FirstToken.Known() {
		a.service.add(r)
	}
	if a.Precision > 0 && rundir.Duration(r.Due.Value()) > a.From {
		a.means.add(r)
	}
	if n := len(r.GapsUS); n > 0 {
		perToken := (r.LastToken.Value() - r.FirstToken.Value()) / float64(n)
		a.recentITL.add(rundir.Duration(perToken))
		a.timePerToken.add(perToken)
	}
}

// Tick notes what the server did since the last call.
func (a *Account) Tick(now time.Duration, done load.Work) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ticks.Add(now, done.Tokens, done.Owed)
	a.fill(now, done.Firsts)
	a.pauses.tick(now, a.ticks.Width, a.minPause(), done.Tokens, done.Owed, a.shed)
}

func (a *Account) minPause() time.Duration { return max(leastPause, 2*a.LoneLatency) }

// Closed notes when the window closed.
func (a *Account) Closed(at time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closedAt = at
}

const snapshotTime = 2 * time.Second // over which the shown tokens per second are averaged

// Recent returns how the stage stands.
func (a *Account) Recent() load.Snapshot {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := load.Snapshot{Done: a.done, Failed: a.failed, Errors: maps.Clone(a.classes), TTFT: a.recentTTFT.median(),
		ITL: a.recentITL.median()}
	s.Until = a.closesAt()
	if n := len(a.ticks.Sums); n > 0 {
		n = min(n, int(snapshotTime/a.ticks.Width)+1)
		s.TokensPS = stats.Mean(a.ticks.Sums[len(a.ticks.Sums)-n:]) / a.ticks.Width.Seconds()
	}
	return s
}

// serviceTime is how long a request is served, without its wait in the server's queue: from its first token to its
// last, and the shortest time to a first token.
type serviceTime struct {
	spans   sample.Sample // times from the first token to the last, seconds
	fastest float64       // shortest time to a first token, seconds; 0 before there is one
}

func (s *serviceTime) add(r *rundir.Record) {
	s.spans.Add(0, r.LastToken.Value()-r.FirstToken.Value())
	s.fastest = min(cmp.Or(s.fastest, math.Inf(1)), r.FirstToken.Value()-r.Sent.Value())
}

func (s *serviceTime) median() time.Duration {
	if s.spans.Known() == 0 {
		return 0
	}
	return rundir.Duration(s.spans.Quantile(0.5) + s.fastest)
}

type recentTimes struct {
	last [recentValues]time.Duration
	n    int // all that came
}

// recentValues is an odd number, so that one of them is the median, and few enough to be sorted at each tick.
const recentValues = 31

func (r *recentTimes) add(d time.Duration) {
	r.last[r.n%len(r.last)] = d
	r.n++
}

// median is negative while there is no value.
func (r *recentTimes) median() time.Duration {
	n := min(r.n, len(r.last))
	if n == 0 {
		return -1
	}
	sorted := r.last
	slices.Sort(sorted[:n])
	return sorted[n/2]
}
