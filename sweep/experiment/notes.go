package experiment

import "llmsweep/client/note"

// Notes on a run and its stages. Rates are per second, times in seconds, shares from 0 to 1. "excess" holds notes on
// what the client was not shown to bear.
var (
	noteBeyondClient     = note.Kind{Code: "stage.beyond-client", Args: []string{"excess"}}
	notePlanBeyondClient = note.Kind{Code: "client.plan-beyond", Args: []string{"excess"}}
	noteExcessStreams    = note.Kind{Code: "excess.streams", Args: []string{"asked", "shown"}}
	noteExcessTokens     = note.Kind{Code: "excess.tokens", Args: []string{"asked", "shown"}}
	noteExcessArrivals   = note.Kind{Code: "excess.arrivals", Args: []string{"asked", "shown"}}
	noteFewSessions      = note.Kind{Code: "stage.few-sessions", Args: []string{"sessions"}} // a slot
	noteOfStage          = note.Kind{Code: "client.stage", Args: []string{"stage", "why"}}   // why holds one note
	noteRetokenize       = note.Kind{Code: "retokenize.failed", Args: []string{"stage", "error"}}
	noteNotIdle          = note.Kind{Code: "server.not-idle", Args: []string{"stage", "error"}}
	noteCacheEmptied     = note.Kind{Code: "server.cache-emptied"}
	noteCacheKept        = note.Kind{Code: "server.cache-kept", Args: []string{"stage", "why"}} // why holds one note
	noteResumed          = note.Kind{Code: "run.resumed", Args: []string{"stages", "stage", "time"}}
	noteServerGone       = note.Kind{Code: "run.server-gone", Args: []string{"stage"}}
	noteNothingDone      = note.Kind{Code: "run.nothing-succeeded"}
	noteNothingDue       = note.Kind{Code: "run.nothing-due"}
	noteBudgetOver       = note.Kind{Code: "run.budget-over", Args: []string{"budget", "stage"}}
	noteSpendLimit       = note.Kind{Code: "run.spent-up", Args: []string{"stage"}}
	noteFailed           = note.Kind{Code: "run.failed", Args: []string{"error"}}
)
