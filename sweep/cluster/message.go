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

// FromRank is a message of a rank to rank 0: *[Hello], *[Clock], *[Ready], *reading, *[Done], *records or *[Trouble].
type FromRank interface{ fromRank() }

// ToRank is a message of rank 0 to a rank: *welcome, *[Clock], *stage, *[Start], *order, *fetch or *bye.
type ToRank interface{ toRank() }

func (*Hello) fromRank()        {}
func (*messageClock) fromRank() {}
func (*Ready) fromRank()        {}
func (*reading) fromRank()      {}
func (*Done) fromRank()         {}
func (*records) fromRank()      {}
func (*Trouble) fromRank()      {}

func (*welcome) toRank()      {}
func (*messageClock) toRank() {}
func (*stage) toRank()        {}
func (*Start) toRank()        {}
func (*order) toRank()        {}
func (*fetch) toRank()        {}
func (*bye) toRank()          {}

func init() {
	for name, v := range map[string]any{
		"hello": &Hello{}, "clock": &messageClock{}, "ready": &Ready{}, "reading": &reading{}, "done": &Done{}, "records": &records{}, "trouble": &Trouble{},
		"welcome": &welcome{}, "stage": &stage{}, "start": &Start{}, "order": &order{}, "fetch": &fetch{}, "bye": &bye{},
		"closed": arrival.Closed{}, "constant": arrival.Constant{}, "poisson": arrival.Poisson{}, "gamma": arrival.Gamma{}, "clients": arrival.Clients{}, "ramp": arrival.Ramp{},
		"trace": arrival.Trace{}, "sessions": arrival.Sessions{}, "counted": arrival.Counted{},
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

// welcome is the answer of rank 0 to Hello.
type welcome struct {
	Refusal string // why the rank cannot join; empty where it can
	Setup   []byte // what the rank needs to know of server and workload, as JSON
}

// messageClock is one exchange of instants for the alignment of clocks. A rank fills in Sent; rank 0 fills in the other two and sends it back. Each
// instant is the time since 1970 by the clock of the process that fills it in.
type messageClock struct{ Sent, Received, Answered time.Duration }

// stage announces a stage. Each rank makes schedule and prompts itself, from the seed, and answers with Ready.
type stage struct {
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

// reading is the progress of a rank in a stage since its last reading.
type reading struct {
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

// phase is how far a stage has got. Rank 0 moves all ranks on; coordinatorStage has the table.
type phase int

// The phases of a stage.
const (
	preparing phase = iota // ranks get ready
	Open                   // the window is open
	closed                 // the window is closed, and the load goes on
	settled                // the requests of all windows have ended
	stopped                // the load is over, and requests in flight may end
	cancelled              // all requests are cancelled
)

// order moves a stage on to another phase.
type order struct {
	Attempt int
	To      phase
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

// fetch asks for the records of a stage.
type fetch struct{ Attempt int }

// records is a part of the records of a stage, as lines of records.jsonl. A line may be split between two parts.
type records struct {
	Attempt int
	Lines   []byte
	Last    bool // nothing follows
}

// Trouble reports that a rank has to leave the run.
type Trouble struct {
	Error       string
	Interrupted bool
}

// bye ends the run on a rank.
type bye struct{ Error string } // why it ended early; empty where it did not
