package cluster

import (
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// reportEvery is often enough for the shortest stage, and ten messages a second.
const reportEvery = 100 * time.Millisecond

// reporter is the [load.Monitor] and the [load.Log] of a rank: it sends rank 0 what it sees, and passes rank 0's
// decisions on.
type reporter struct {
	rank  rundir.Number
	send  func(any) error
	spent func() client.Spent // in the stage so far

	mu      sync.Mutex
	next    progress
	phase   phase
	done    chan struct{} // closed when the stage has ended
	sending sync.WaitGroup
}

func (r *reporter) begin() {
	r.done = make(chan struct{})
	r.sending.Go(func() {
		ticker := time.NewTicker(reportEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				r.flush()
			case <-r.done:
				r.flush()
				return
			}
		}
	})
}

func (r *reporter) end() {
	close(r.done)
	r.sending.Wait()
}

// flush sends without the lock: requests must not wait for the network.
func (r *reporter) flush() {
	spent := r.spent()
	r.mu.Lock()
	now := r.next
	r.next = progress{InFlight: now.InFlight, Settled: now.Settled}
	r.mu.Unlock()
	now.Spent = spent
	r.send(now) // where that fails, the session ends
}

func (r *reporter) Due(asked int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next.Due = append(r.next.Due, asked)
}

// FirstToken does nothing: the record has it.
func (r *reporter) FirstToken(time.Duration) {}

// Append does nothing: Ended has the same record.
func (r *reporter) Append(*rundir.Record) error { return nil }

func (r *reporter) Ended(rec *rundir.Record, tokens int) {
	rec.Rank = r.rank
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next.Records = append(rec.AppendJSON(r.next.Records), '\n')
	r.next.Counted = append(r.next.Counted, tokens)
}

func (r *reporter) Tick(now time.Duration, arrived, owed float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next.Ticks = append(r.next.Ticks, tick{now, arrived, owed})
}

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

func (r *reporter) progress(s load.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next.InFlight = s.InFlight
}

// settle tells rank 0 whether the requests of this rank's window have ended, and reports whether those of all ranks
// have.
func (r *reporter) settle(own bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next.Settled = r.next.Settled || own
	return r.phase == settled
}

func (r *reporter) moveTo(to phase) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phase = to
}
