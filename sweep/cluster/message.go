package cluster

import (
	"encoding/gob"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
)

// Hello is the first message of a rank: its place, its version and its machine.
type Hello struct {
	Rank, Ranks   int
	Version, Host string
}

// welcome describes server and workload to a rank, once all ranks have joined.
type welcome struct{ Setup []byte }

// stage announces a stage. Each rank makes schedule and prompts itself, from the seed, and answers with ready.
type stage struct {
	load.Spec // its load a trace without its offsets: each rank reads its file
	Share     share
	Allowance float64 // what the rank may spend; 0 for no limit
	Seed      uint64
}

type ready struct{}

// start begins the stage a time after the message comes. Clocks of other machines need not be known: what a message
// takes to arrive is how far apart the ranks begin. The answer is started.
type start struct{ In time.Duration }

// started is sent back at once, so that rank 0 knows how long messages take.
type started struct{}

// progress is what a rank saw in a stage since its last progress.
type progress struct {
	Ticks    []tick
	Due      []int  // output tokens that each request asks for which came due
	Records  []byte // lines of records.jsonl
	Counted  []int  // output tokens of each record, counted as they came
	InFlight int
	Settled  bool         // the requests of the window have ended
	Spent    client.Spent // in the stage so far
}

// tick is the output tokens that arrived since the last tick, and those owed at its end.
type tick struct {
	At            time.Duration // since the stage's start
	Arrived, Owed float64
}

// phase is of a stage. Rank 0 moves all ranks from one to the next.
type phase int

const (
	preparing phase = iota // ranks get ready
	open                   // the window is open
	closed                 // the window is closed, and the load goes on
	settled                // the requests of all windows have ended
	stopped                // the load is over, and requests in flight may end
	cancelled              // all requests are cancelled
)

// done is the last message of a rank about a stage.
type done struct {
	Error   string        // of the rank itself; empty for none
	Spent   bool          // its share of a limit on spending is used up
	Began   time.Duration // how late it began
	Elapsed time.Duration
	CPU, GC float64 // of all cores; negative where unknown
}

// trouble says why a rank cannot go on. Without an error it was interrupted, and ends with the run.
type trouble struct{ Error string }

type bye struct{ Error string } // why it ended early; empty where it did not

// alive is a sign of life, sent by both sides.
type alive struct{}

func registerMessages() {
	for _, m := range []any{
		Hello{}, welcome{}, stage{}, ready{}, start{}, started{}, progress{}, phase(0), done{}, trouble{}, bye{}, alive{},
	} {
		gob.Register(m)
	}
	for _, l := range arrival.Kinds() {
		gob.Register(l)
	}
}
