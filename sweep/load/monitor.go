package load

import (
	"time"

	"llmsweep/sweep/rundir"
)

// Monitor is told what happens in a stage, and decides when there is enough of it. Its methods are called from several
// goroutines.
type Monitor interface {
	// Due is called when a request comes due, with the output tokens that it asks for.
	Due(asked int)
	// FirstToken is called at the first token of a request, with the time since it was sent.
	FirstToken(ttft time.Duration)
	// Ended is called when a request has ended, with its record and the tokens that were counted as they came. It keeps
	// nothing of the record.
	Ended(r *rundir.Record, tokens int)
	// Tick is called at each tick, with what the server did since the last call.
	Tick(now time.Duration, done Work)
	// Decide is called after each Tick until the window closes.
	Decide(now time.Duration) Decision
	// Closed is called once, when the window closes.
	Closed(at time.Duration)
	// Recent returns how the stage stands: all of a snapshot but Phase, Elapsed and InFlight. Its Until is that of the
	// window.
	Recent() Snapshot
}

// Work is what a server did in a time, for requests of earlier stages too.
type Work struct {
	Tokens float64 // output tokens that arrived
	Firsts float64 // those among them that were the first of their requests
	Owed   float64 // output tokens that were asked for and have not arrived, at its end
}

// Decision is a [Monitor]'s decision whether a stage continues.
type Decision uint8

// The decisions.
const (
	Continue Decision = iota
	Close             // close the window; load is kept on until the window's requests have ended
	Stop              // end the stage at once: nothing more comes of it
)

// Phases of a stage.
const (
	PhaseWarmUp    = "warm-up"
	PhaseMeasuring = "measuring"
	PhaseTail      = "tail" // the window has closed; load is kept on until its requests have ended
	PhaseDraining  = "draining"
	PhaseIdle      = "idle" // the next stage waits for the server to become idle
)

// Snapshot is the state of a running stage.
type Snapshot struct {
	Phase    string
	Elapsed  time.Duration
	Until    time.Duration // when the phase ends at the latest, in the time of Elapsed; 0 where that is not known
	InFlight int
	Done     int // requests that ended well
	Failed   int
	Errors   map[string]int // the failures by class; nil for none
	TTFT     time.Duration  // median of the latest; negative where none is known
	ITL      time.Duration  // mean gap between tokens, median of the latest requests; negative where none is known
	TokensPS float64        // output tokens per second in the last two seconds
}
