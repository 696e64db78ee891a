package sweep

import (
	"context"
	"iter"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// Task is one request, or a conversation of several: the first turn is due by the schedule, each later one when the one
// before has ended plus its think time.
type Task struct {
	System string // the system message; empty for none
	Turns  []Turn
}

// Turn is one user message and the answer asked for.
type Turn struct {
	User         string
	PromptTokens int // what the workload meant User to be; 0 where it did not say
	OutputTokens int
	Think        time.Duration // between the end of the turn before and this one's due instant
}

// Source yields the tasks of one stage. ok is false when there are no more, which ends the stage.
type Source interface {
	Next() (task Task, ok bool)
}

// Doer does one request: [client.Client] over the network, or the simulator's engine without one.
type Doer interface {
	// Prepare does all that can be done before the request is due.
	Prepare(*api.Request) (*client.Prepared, error)
	// Do sends the call and follows it to its end. Failures are in the result. It returns soon after ctx ends.
	Do(context.Context, *client.Prepared, *client.Result)
}

// Waiter waits for an instant: true then, or false once quit is closed. One goroutine at a time waits.
type Waiter interface {
	Wait(until time.Time, quit <-chan struct{}) bool
}

// stamper is a Doer that knows who dates what arrives: "kernel" or "user". It knows once something has arrived.
type stamper interface{ Timestamps() string }

// warmer is a Doer that can connect ahead of need, so that the first requests of a stage need not wait for it.
type warmer interface {
	Warm(ctx context.Context, connections int) error
}

// Log keeps what was measured: a run directory, or memory.
type Log interface {
	// Append keeps nothing of the record it is given, which is used again.
	Append(*rundir.Record) error
	Records(stage string) iter.Seq2[*rundir.Record, error]
	Save(*rundir.Run) error
}

// Phases of a stage.
const (
	PhaseWarmUp    = "warm-up"
	PhaseMeasuring = "measuring"
	PhaseTail      = "tail" // the window has closed; load is kept on until its requests have ended
	PhaseDraining  = "draining"
)

// Snapshot is how a stage stands while it runs.
type Snapshot struct {
	Phase    string
	Elapsed  time.Duration
	InFlight int
	Done     int // ended well
	Failed   int
	TTFT     time.Duration // median of the latest; negative where none is known
	ITL      time.Duration // mean of the latest; negative where none is known
	TokensPS float64       // output tokens per second of late
}

// Observer is told what happens, to show it. It must be quick: it is called from the loop that runs the stage.
type Observer interface {
	StageBegins(s *rundir.Stage, planned, left time.Duration)
	Progress(Snapshot)
	StageEnds(s *rundir.Stage)
	Note(n note.Note)
}

// Blind observes nothing.
type Blind struct{}

// StageBegins does nothing.
func (Blind) StageBegins(*rundir.Stage, time.Duration, time.Duration) {}

// Progress does nothing.
func (Blind) Progress(Snapshot) {}

// StageEnds does nothing.
func (Blind) StageEnds(*rundir.Stage) {}

// Note does nothing.
func (Blind) Note(note.Note) {}
