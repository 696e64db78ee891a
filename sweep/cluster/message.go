// Has the messages between rank 0 and the other ranks of a run. They are written by encoding/gob. Ranks of different versions of
// llmsweep refuse each other, so that fields need not be kept; only Hello and Welcome must stay readable for other versions.

package cluster

import (
	"encoding/gob"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/sample"
)

// FromRank is a message of a rank to rank 0: *[Hello], *[Clock], *[Ready], *[Reading], *[Done], *[Records] or *[Trouble].
type FromRank interface{ fromRank() }

// ToRank is a message of rank 0 to a rank: *[Welcome], *[Clock], *[Stage], *[Start], *[Order], *[Fetch] or *[Bye].
type ToRank interface{ toRank() }

func (*Hello) fromRank()        {}
func (*MessageClock) fromRank() {}
func (*Ready) fromRank()        {}
func (*Reading) fromRank()      {}
func (*Done) fromRank()         {}
func (*Records) fromRank()      {}
func (*Trouble) fromRank()      {}

func (*Welcome) toRank()      {}
func (*MessageClock) toRank() {}
func (*Stage) toRank()        {}
func (*Start) toRank()        {}
func (*Order) toRank()        {}
func (*Fetch) toRank()        {}
func (*Bye) toRank()          {}

func init() {
	for name, v := range map[string]any{
		"hello": &Hello{}, "clock": &MessageClock{}, "ready": &Ready{}, "reading": &Reading{}, "done": &Done{}, "records": &Records{}, "trouble": &Trouble{},
		"welcome": &Welcome{}, "stage": &Stage{}, "start": &Start{}, "order": &Order{}, "fetch": &Fetch{}, "bye": &Bye{},
		"closed": arrival.Closed{}, "constant": arrival.Constant{}, "poisson": arrival.Poisson{}, "gamma": arrival.Gamma{}, "ramp": arrival.Ramp{},
		"trace": arrival.Trace{}, "sessions": arrival.Sessions{},
	} {
		gob.RegisterName("llmsweep."+name, v)
	}
}

// Hello is the first message of a rank: its place, its version and its machine.
type Hello struct {
	Rank, Ranks int
	Version     string // of llmsweep
	Host, OS    string
	CPUs        int
}

// Welcome is the answer of rank 0 to Hello.
type Welcome struct {
	Refusal string // why the rank cannot join; empty where it can
	Setup   []byte // what the rank needs to know of server and workload, as JSON
}

// MessageClock is one exchange of instants for the alignment of clocks. A rank fills in Sent; rank 0 fills in the other two and sends it back. Each
// instant is the time since 1970 by the clock of the process that fills it in.
type MessageClock struct{ Sent, Received, Answered time.Duration }

// Stage announces a stage. Each rank makes schedule and prompts itself, from the seed, and answers with Ready.
type Stage struct {
	Attempt         int               // counts the stages of the run, repetitions included
	Member, Members int               // the place of the rank among those that send, from 0, and their number
	Nonce, Places   uint64            // of the workload's numbering
	Connect         int               // connections to open
	Allowance       client.PurseShare // what the rank may spend; 0 for no limit

	Name     string
	Load     arrival.Load // a trace without its offsets: each rank reads its file
	Seed     uint64
	Limit    int // most requests in flight on all ranks together; 0 for no limit
	Opening  []time.Duration
	Joins    []float64
	Sessions int
	Tick     time.Duration
	Tail     time.Duration
	Drain    time.Duration
	TimeOut  time.Duration
}

// Ready is the answer of a rank that has prepared a stage.
type Ready struct {
	Attempt     int
	Fingerprint uint64        // of the schedule and the first sessions: the same on all ranks
	Clock       ClockEstimate // of the rank's clock against rank 0's
}

// Start sets the common start of a stage, by the clock of rank 0.
type Start struct {
	Attempt int
	At      time.Duration // since 1970
}

// Reading is the progress of a rank in a stage since its last reading.
type Reading struct {
	Attempt       int
	At            []time.Duration // since the stage's start, of each tick
	Arrived, Owed []float64       // output tokens that arrived within each tick, and that are owed at its end
	Due           int             // requests
	Asked         int             // output tokens that these ask for
	FirstTokens   []time.Duration // the latest few times to first token
	Ended         []Ended
	InFlight      int
	Settled       bool          // the requests of the window have ended
	Spending      *client.Spent // in the stage so far; nil where it is not counted
}

// Ended is a request that has ended: the part of its record that rank 0 needs while the stage runs. Instants are in seconds since the start of
// the stage; -1 where there is none.
type Ended struct {
	Status, Error                             string
	HTTP                                      int
	Sent, Headers, FirstToken, LastToken, End float64
	OutputTokens                              int // -1 where they are not known
	Chunks                                    int
	Grouped                                   bool // the number of tokens in each chunk is known
	Tokens                                    int  // output tokens counted as they arrived
}

// Phase is how far a stage has got. Rank 0 moves all ranks on; coordinatorStage has the table.
type Phase int

// The phases of a stage.
const (
	Preparing Phase = iota // ranks get ready
	Open                   // the window is open
	Closed                 // the window is closed, and the load goes on
	Settled                // the requests of all windows have ended
	Stopped                // the load is over, and requests in flight may end
	Cancelled              // all requests are cancelled
)

// Order moves a stage on to another phase.
type Order struct {
	Attempt int
	To      Phase
}

// Done is the last message of a rank about a stage that it has ended.
type Done struct {
	Attempt            int
	Error              string // of the rank itself; empty for none
	Interrupted, Spent bool
	Began, Elapsed     time.Duration // after the common start
	CPU, GC            float64       // of all cores; negative where unknown
	InFlight           sample.Bins
	Requests           int
	LagP99, ReadP99    float64       // seconds; negative where unknown
	Shared             float64       // share of the token-bearing chunks that were read together with the next
	Clock              ClockEstimate // at the end
	Align              time.Duration // largest error of its instants against those of rank 0
	Stall              time.Duration // the longest time in which the rank did not run
	Places             uint64        // of the workload's numbering
	Spending           *client.Spent // in the stage; nil where it is not counted
}

// Fetch asks for the records of a stage.
type Fetch struct{ Attempt int }

// Records is a part of the records of a stage, as lines of records.jsonl. A line may be split between two parts.
type Records struct {
	Attempt int
	Lines   []byte
	Last    bool // nothing follows
}

// Trouble reports that a rank has to leave the run.
type Trouble struct {
	Error       string
	Interrupted bool
}

// Bye ends the run on a rank.
type Bye struct{ Error string } // why it ended early; empty where it did not
