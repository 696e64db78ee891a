package cluster

import (
	"slices"
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// reportEvery is how often a rank tells how its stage stands: often enough for the shortest stage, and ten messages a second at most.
const reportEvery = 100 * time.Millisecond

// mostFirstTokens is how many times to first token a reading carries: rank 0 shows the median of the latest 31.
const mostFirstTokens = 31

// reporter is the [load.Monitor] of a rank. It judges nothing: it tells rank 0 what it sees, and passes rank 0's decisions on.
type reporter struct {
	attempt int
	send    func(FromRank)
	// spending returns what was spent in the stage so far; nil where it is not counted.
	spending func() *client.Spent

	mu       sync.Mutex
	reading  *reading
	last     time.Duration // when the last reading was sent
	ticked   time.Duration
	stall    time.Duration // the longest time between two ticks
	phase    phase
	settled  bool
	inFlight int

	requests       int
	lag, delay     []float64 // seconds, of each request
	chunks, shared float64
	began          time.Time
}

func newReporter(attempt int, began time.Time, send func(FromRank)) *reporter {
	return &reporter{attempt: attempt, began: began, send: send, reading: &reading{Attempt: attempt}}
}

// Due counts a request that came due.
func (r *reporter) Due(asked int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reading.Due++
	r.reading.Asked += asked
}

// FirstToken notes a time to first token.
func (r *reporter) FirstToken(ttft time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.reading.FirstTokens) < mostFirstTokens {
		r.reading.FirstTokens = append(r.reading.FirstTokens, ttft)
	}
}

// Ended takes in the record of a request.
func (r *reporter) Ended(rec *rundir.Record, tokens int) {
	e := shorten(rec, tokens)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reading.Ended = append(r.reading.Ended, e)
	if rec.Sent.Known() {
		r.requests++
		queued := 0.0
		if rec.Queued.Known() {
			queued = rec.Queued.Value()
		}
		r.lag = append(r.lag, rec.Sent.Value()-rec.Due.Value()-queued)
	}
	if rec.ReadDelay.Known() {
		r.delay = append(r.delay, rec.ReadDelay.Value())
	}
	if rec.FirstToken.Known() {
		r.chunks += float64(len(rec.GapsUS) + 1)
		r.shared += float64(len(rec.Shared))
	}
}

// Tick notes the tokens that arrived since the last call, and those owed now.
func (r *reporter) Tick(now time.Duration, arrived, owed float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stall, r.ticked = max(r.stall, now-r.ticked), now
	r.reading.At = append(r.reading.At, now)
	r.reading.Arrived = append(r.reading.Arrived, arrived)
	r.reading.Owed = append(r.reading.Owed, owed)
	if now-r.last >= reportEvery {
		r.flush(now)
	}
}

// Decide returns rank 0's decision.
func (r *reporter) Decide(time.Duration) load.Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch r.phase {
	case closed, settled:
		return load.Close
	case stopped:
		return load.Stop
	}
	return load.Continue
}

// Closed does nothing: rank 0 closed the window.
func (r *reporter) Closed(time.Duration) {}

// Recent returns nothing: rank 0 shows how the stage stands.
func (r *reporter) Recent() load.Snapshot { return load.Snapshot{} }

// progress notes the number in flight. While a stage drains it is the only sign of life.
func (r *reporter) progress(s load.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight = s.InFlight
	if now := time.Since(r.began); now-r.last >= reportEvery && s.Phase == load.PhaseDraining {
		r.flush(now)
	}
}

// settle tells rank 0 whether the requests of this rank's window have ended, and reports whether those of all ranks have.
func (r *reporter) settle(own bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if own && !r.settled {
		r.settled = true
		r.flush(r.ticked)
	}
	return r.phase == settled
}

// obey takes in a decision of rank 0.
func (r *reporter) obey(to phase) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phase = to
}

// end sends what was not sent yet.
func (r *reporter) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flush(time.Since(r.began))
}

// mostEnded is how many requests that have ended a reading carries.
const mostEnded = 2048

func (r *reporter) flush(now time.Duration) {
	for len(r.reading.Ended) > mostEnded {
		r.send(&reading{Attempt: r.attempt, InFlight: r.inFlight, Ended: r.reading.Ended[:mostEnded:mostEnded]})
		r.reading.Ended = r.reading.Ended[mostEnded:]
	}
	r.reading.InFlight, r.reading.Settled, r.reading.Spending = r.inFlight, r.settled, r.spent()
	r.send(r.reading)
	r.reading, r.last = &reading{Attempt: r.attempt}, now
}

// spent returns what was spent in the stage so far; nil where it is not counted.
func (r *reporter) spent() *client.Spent {
	if r.spending == nil {
		return nil
	}
	return r.spending()
}

// fitness fills in whether the rank was fast enough.
func (r *reporter) fitness(d *Done) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d.Requests, d.Stall = r.requests, r.stall
	d.LagP99, d.ReadP99 = p99(r.lag), p99(r.delay)
	if r.chunks > 0 {
		d.Shared = r.shared / r.chunks
	}
}

// p99 returns the 99th percentile; negative where there is no value.
func p99(values []float64) float64 {
	if len(values) == 0 {
		return -1
	}
	slices.Sort(values)
	return max(0, stats.QuantileOf(stats.Sorted(values), 0.99))
}
