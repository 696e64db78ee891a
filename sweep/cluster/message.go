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
	prepare struct { // encode this ahead of time
		ID      uint64
		Request api.Request
	}
	send   struct{ ID uint64 } // it is due now
	cancel struct{ ID uint64 }
	ping   struct{}
	bye    struct{ Error string } // why the run ended early; empty where it did not
)

// Other ranks send these. Instants count from when send came: clocks of other machines need not be known.
type (
	progress struct{ Calls []tokens } // since the last progress
	tokens   struct {
		ID          uint64
		N           int
		Sent, First time.Duration
	}
	ended struct {
		ID     uint64
		Result client.Result
	}
	pong    struct{ CPU, GC float64 } // of all cores, since the last one; negative where unknown
	trouble struct{ Error string }    // why it cannot go on; empty where it was interrupted, and ends with the run
)

// alive is a sign of life, sent by both sides.
type alive struct{}

var registerMessages = sync.OnceFunc(func() {
	for _, m := range []any{Hello{}, welcome{}, warm{}, prepare{}, send{}, cancel{}, ping{}, bye{}, progress{}, ended{},
		pong{}, trouble{}, alive{}} {
		gob.Register(m)
	}
})
