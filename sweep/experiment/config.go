package experiment

import (
	"context"
	"iter"
	"time"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/grade"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// Config is the configuration of an experiment: the server, the files, and how each stage is measured. Nothing changes
// it once the experiment has begun.
type Config struct {
	Doer     load.Doer
	Sources  func(stage string) load.Source // a fresh source for each stage
	Log      Log
	Observer Observer
	Ranks    int         // the processes that Doer sends from; 0 for one
	Others   load.Others // nil where this process sends all requests
	// Waiter waits for the instants of arrivals; nil for Go's timer, which is late by up to a millisecond. Processor time
	// is measured only with a [load.ExactTimer].
	Waiter load.Waiter

	// Warm opens connections before a stage needs them; nil where there are none to open.
	Warm func(ctx context.Context, connections int) error
	// Timestamps returns who stamps the bytes that arrive, "kernel" or "user"; nil where that is not known.
	Timestamps func() string
	// Idle waits until the server says that it has nothing left to do; nil where it cannot be asked.
	Idle func(context.Context) error
	// Empty empties the server's prefix cache, and returns why it could not; nil where the cache is left alone.
	Empty func(context.Context) note.Note
	// Scrape reads the server's gauges; nil where it has none.
	Scrape func(context.Context) (client.Gauges, error)
	// Selftest tests after the first stage what the client can do on this machine; nil where that is known, or not
	// asked. Its result is nil where it fails.
	Selftest func(context.Context) *rundir.Selftest
	// Retokenize counts the tokens of an answer's text, after the stage; nil for no such count.
	Retokenize func(context.Context, string) (int, error)

	// Before is the run that goes on, as far as it got; nil for a new run. Log holds its records.
	Before *rundir.Run
	// Spent returns what was spent so far, for run.json; nil where that is not counted.
	Spent func() *rundir.Spent

	// Ends is asked after each stage whether the experiment ends there: its error says why. It is nil for never.
	Ends func(*Experiment) error

	Budget        time.Duration // for the whole experiment; 0 for none
	StageTime     time.Duration // each stage measures at least this long,
	StageMax      time.Duration // and at most this long while it is undecided
	StageRequests int           // requests due in a stage's window at least
	Warmup        Warmup
	Drain         time.Duration // how long a backlog may take to end between stages before it is cancelled
	IdleWait      time.Duration // how long the server may take after that to become idle; 0 for as long as Drain
	Caps          *load.Caps    // limits of a hosted API; nil for none
	MaxErrorRate  float64       // a stage ends early when more than this share of its requests fails
	Tolerance     float64       // drift below this share of the offered rate counts as none
	Seed          uint64

	Grader *grade.Grader // grades answers; nil for none

	SLO []slo.Term // goodput is counted by them, and stages collect the requests that their percentiles need
}

// Log keeps what was measured: [store.Dir] in files, or [store.Memory].
type Log interface {
	load.Log
	Records(stage string) iter.Seq2[*rundir.Record, error]
	Save(*rundir.Run) error
	AppendReadings([]rundir.Reading) error // of the server's own load
	AppendGrades([]rundir.Grade) error
	Grades() iter.Seq2[*rundir.Grade, error]
	// Broken is closed when something could not be written; it is nil for a log that cannot fail. Failure is then why.
	Broken() <-chan struct{}
	Failure() error
}

// Observer is told what happens, to show it. It must be quick: it is called from the loop that runs the stage.
// [NoObserver] is to be embedded by those that show a part of it.
type Observer interface {
	// StageBegins is called with the time that the stage is planned to measure.
	StageBegins(s *rundir.Stage, planned time.Duration)
	// Left is called with the time that the run still takes, between bounds; negative where it is not known.
	Left(low, high time.Duration)
	Progress(load.Snapshot)
	StageEnds(s *rundir.Stage)
	Note(n note.Note)
}

// NoObserver is an Observer that shows nothing.
type NoObserver struct{}

// StageBegins does nothing.
func (NoObserver) StageBegins(*rundir.Stage, time.Duration) {}

// Left does nothing.
func (NoObserver) Left(time.Duration, time.Duration) {}

// Progress does nothing.
func (NoObserver) Progress(load.Snapshot) {}

// StageEnds does nothing.
func (NoObserver) StageEnds(*rundir.Stage) {}

// Note does nothing.
func (NoObserver) Note(note.Note) {}
