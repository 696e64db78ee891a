package sweep

import (
	"errors"

	"llmsweep/client/note"
)

// What a sweep has to say of itself. Rates are per second, times in seconds, shares from 0 to 1.
var (
	// Of a stage.
	noteEndedEarly    = note.Kind{Code: "stage.ended-early", Args: []string{"failed", "ended"}}
	noteTooShort      = note.Kind{Code: "stage.too-short"}
	noteBookkeeping   = note.Kind{Code: "stage.bookkeeping", Args: []string{"counted", "added_up"}}
	noteResent        = note.Kind{Code: "requests.resent", Args: []string{"count"}}
	noteSharedReads   = note.Kind{Code: "stage.shared-reads", Args: []string{"share"}}
	noteKilledInStage = note.Kind{Code: "stage.killed", Args: []string{"records"}}
	noteBeyondClient  = note.Kind{Code: "stage.beyond-client", Args: []string{"excess"}}

	// Why a stage says more of the client than of the server.
	noteSentLate  = note.Kind{Code: "client.sent-late", Args: []string{"lag_p99"}}
	noteReadLate  = note.Kind{Code: "client.read-late", Args: []string{"delay_p99", "shared"}}
	noteNoCPULeft = note.Kind{Code: "client.no-cpu-left", Args: []string{"cpu", "gc_share"}}
	noteOfStage   = note.Kind{Code: "client.stage", Args: []string{"stage", "why"}} // why holds one note

	// Of what a plan asks of the client.
	notePlanBeyondClient = note.Kind{Code: "client.plan-beyond", Args: []string{"excess"}}
	noteExcessStreams    = note.Kind{Code: "excess.streams", Args: []string{"asked", "shown"}}
	noteExcessTokens     = note.Kind{Code: "excess.tokens", Args: []string{"asked", "shown"}}
	noteExcessArrivals   = note.Kind{Code: "excess.arrivals", Args: []string{"asked", "shown"}}

	// Of the sweep.
	noteRetokenize     = note.Kind{Code: "retokenize.failed", Args: []string{"stage", "error"}}
	noteNotIdle        = note.Kind{Code: "server.not-idle", Args: []string{"stage", "error"}}
	noteNoTimeForRow   = note.Kind{Code: "budget.no-time-for-rate", Args: []string{"rate", "repeat"}}
	noteNoTimeRepeats  = note.Kind{Code: "budget.no-time-for-repeats", Args: []string{"repeats"}}
	noteBudgetCeiling  = note.Kind{Code: "budget.ended-ceiling-search", Args: []string{"in_flight"}}
	noteCapReached     = note.Kind{Code: "cap.reached", Args: []string{"rate"}}
	noteCeilingBounded = note.Kind{Code: "ceiling.bounded", Args: []string{"max_concurrency"}}
	noteCeilingStep    = note.Kind{Code: "ceiling.step", Args: []string{"in_flight", "tokens_per_s"}}
	noteBudgetPlan     = note.Kind{Code: "budget.plan", Args: []string{"left", "rates", "repeats", "stage_time", "requests", "drift", "p95_from", "p99_from"}}
	notePrecision      = note.Kind{Code: "precision.more-stages", Args: []string{"have", "wanted", "stages", "time"}}
	noteSLOCollects    = note.Kind{Code: "slo.collects", Args: []string{"requests", "time"}}
	noteSLOTooSlow     = note.Kind{Code: "slo.too-slow", Args: []string{"rate", "stage_max"}}
	noteSLOSearch      = note.Kind{Code: "slo.search", Args: []string{"stages", "stage_max"}} // stage_max absent within a budget

	// Of the saturation rate.
	noteStableAbove   = note.Kind{Code: "saturation.stable-above", Args: []string{"rate"}}
	noteMixedVerdicts = note.Kind{Code: "saturation.mixed-verdicts", Args: []string{"rate", "stable", "saturated"}}
	noteAgainst       = note.Kind{Code: "saturation.against-neighbours", Args: []string{"stage", "verdict"}}
	noteNotFilled     = note.Kind{Code: "saturation.ceiling-not-filled", Args: []string{"in_flight", "completed", "at_least"}}
	noteOverloadCosts = note.Kind{Code: "saturation.overload-costs", Args: []string{"completed", "in_flight", "overloaded"}}
	noteBacklogGrew   = note.Kind{Code: "saturation.backlog-grew", Args: []string{"offered", "growth", "completed"}}
	noteCeilingAlone  = note.Kind{Code: "saturation.ceiling", Args: []string{"in_flight", "completed"}}
	noteNoneSaturated = note.Kind{Code: "saturation.ceiling-none-saturated", Args: []string{"in_flight", "completed"}}

	// Why a run ended as it did.
	noteKilled      = note.Kind{Code: "run.killed"}
	noteServerGone  = note.Kind{Code: "run.server-gone", Args: []string{"stage"}}
	noteNothingDone = note.Kind{Code: "run.nothing-succeeded"}
	noteNoRates     = note.Kind{Code: "run.no-rates"}
	noteBudgetOver  = note.Kind{Code: "run.budget-over", Args: []string{"budget", "stage"}}
	noteFailed      = note.Kind{Code: "run.failed", Args: []string{"error"}}
	noteOtherFailed = note.Kind{Code: "pair.other-failed"}
	noteOfSide      = note.Kind{Code: "pair.side", Args: []string{"side", "what"}}       // what holds one note
	noteSideFailed  = note.Kind{Code: "pair.side-failed", Args: []string{"side", "why"}} // why holds one note
)

// errOther ends the run of one server of a pair where the other failed.
var errOther = errors.New("the other server failed")

// Notes returns the kinds of notes that this package writes.
func Notes() []note.Kind {
	return []note.Kind{
		noteEndedEarly, noteTooShort, noteBookkeeping, noteResent, noteSharedReads, noteKilledInStage, noteBeyondClient, noteSentLate,
		noteReadLate, noteNoCPULeft, noteOfStage, notePlanBeyondClient, noteExcessStreams, noteExcessTokens,
		noteExcessArrivals, noteRetokenize, noteNotIdle, noteNoTimeForRow, noteNoTimeRepeats, noteBudgetCeiling,
		noteCapReached, noteCeilingBounded, noteCeilingStep, noteBudgetPlan, notePrecision, noteSLOCollects, noteSLOTooSlow,
		noteSLOSearch, noteStableAbove, noteMixedVerdicts, noteAgainst, noteNotFilled, noteOverloadCosts, noteBacklogGrew,
		noteCeilingAlone, noteNoneSaturated, noteKilled, noteServerGone, noteNothingDone, noteNoRates, noteBudgetOver,
		noteFailed, noteOtherFailed, noteSideFailed, noteOfSide,
	}
}
