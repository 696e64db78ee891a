package cluster

import (
	"encoding/gob"
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
)

// Hello is the first message of a rank: its place, its version and its machine.
type Hello struct {
	Rank, Ranks   int
	Version, Host string
}

// Rank 0 sends these.
type (
	welcome struct{ Setup []byte } // describes the servers, once all ranks have joined
	warm    struct{ Connections int }
	stage   struct{} // begins: what was prepared for the last one and not sent is forgotten
	prepare struct { // encode this ahead of time
		ID      uint64
		Request api.Request
	}
	send   struct{ ID uint64 } // it is due now
	cancel struct{ ID uint64 }
	ping   struct{ At time.Duration }
	bye    struct {
		Error   string // why the run ended early; empty where it did not
		Refused bool   // this rank may not join; rank 0 does not say so
	}
)

// Other ranks send these. Instants are of the rank's own clock: see [clock].
type (
	warmed   struct{}
	progress struct{ Requests []tokens } // those with tokens since the last progress
	tokens   struct {
		ID          uint64
		N           int
		Sent, First time.Duration
	}
	ended struct {
		ID     uint64
		Result client.Result
	}
	pong struct {
		Ping, At   time.Duration
		CPU, GC    float64 // shares of all cores since the stage began; negative where unknown
		Timestamps string  // who stamps the bytes that arrive
	}
	trouble struct{ Error string } // why it cannot go on; empty where it was interrupted, and ends with the run
)

// alive is a sign of life, sent by both sides.
type alive struct{}

var registerMessages = sync.OnceFunc(func() {
	for _, m := range []any{
		Hello{}, welcome{}, warm{}, stage{}, prepare{}, send{}, cancel{}, ping{}, bye{},
		warmed{}, progress{}, ended{}, pong{}, trouble{}, alive{},
	} {
		gob.Register(m)
	}
})
