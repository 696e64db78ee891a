package measure

import (
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// Contaminated is the note of a stage whose prompts the server had cached, although the run had not sent them before.
var Contaminated = note.Kind{Code: "cache.contaminated", Args: []string{"share", "hits", "ideal"}}

// Notes on a stage. Times are in seconds, shares from 0 to 1.
var (
	noteTooShort    = note.Kind{Code: "stage.too-short"} // no part of it was steady
	noteFewRequests = note.Kind{Code: "stage.few-requests", Args: []string{"due"}}
	noteEndedEarly  = note.Kind{Code: "stage.ended-early", Args: []string{"failed", "ended"}}
	noteGaveUp      = note.Kind{Code: "stage.gave-up", Args: []string{"silent", "longest", "unsent"}}
	noteFroze       = note.Kind{Code: "server.froze", Args: []string{"since", "streams"}}
	noteNeverFull   = note.Kind{Code: "stage.never-full", Args: []string{"places"}}
	noteFewWaves    = note.Kind{Code: "stage.few-waves", Args: []string{"places"}}

	noteBookkeeping = note.Kind{Code: "stage.bookkeeping", Args: []string{"counted", "added_up"}}
	noteResent      = note.Kind{Code: "requests.resent", Args: []string{"count"}}
	noteSharedReads = note.Kind{Code: "stage.shared-reads", Args: []string{"share"}}
	noteEarlyToken  = note.Kind{Code: "stage.early-token", Args: []string{"ttft", "second", "itl"}}
	noteUnsteady    = note.Kind{Code: "stage.unsteady"}
	noteShortened   = note.Kind{Code: "stage.shortened", Args: []string{"share"}}
	noteSlowReplica = note.Kind{Code: "replica.slow", Args: []string{"replica", "ttft", "fastest"}}
	noteBadReplica  = note.Kind{Code: "replica.fails", Args: []string{"replica", "failed", "due", "others"}}
	noteInProgress  = note.Kind{Code: "stage.in-progress", Args: []string{"records"}}
	noteKilled      = note.Kind{Code: "stage.killed", Args: []string{"records"}}

	// Why a stage is invalid.
	noteAway      = note.Kind{Code: "server.away", Args: []string{"seconds", "requests"}}
	noteStopped   = note.Kind{Code: "client.stopped", Args: []string{"seconds"}}
	noteSentLate  = note.Kind{Code: "client.sent-late", Args: []string{"lag_p99"}}
	noteReadLate  = note.Kind{Code: "client.read-late", Args: []string{"delay_p99", "shared"}}
	noteNoCPULeft = note.Kind{Code: "client.no-cpu-left", Args: []string{"cpu", "gc_share"}}
)

// EndedEarly returns why a stage was ended before all of its load was sent; ok is false where it was not.
func EndedEarly(st *rundir.Stage) (why note.Note, ok bool) {
	for _, n := range st.Warnings {
		if _, unsent := n.Number("unsent"); n.Is(noteEndedEarly) || n.Is(noteGaveUp) && unsent {
			return n, true
		}
	}
	return note.Note{}, false
}
