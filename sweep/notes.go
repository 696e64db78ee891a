package sweep

import "llmsweep/client/note"

// Notes on a sweep. Rates are per second, times in seconds, shares from 0 to 1.
var (
	// On what the client was not shown to bear. "excess" holds notes.
	noteBeyondClient     = note.Kind{Code: "stage.beyond-client", Args: []string{"excess"}}
	notePlanBeyondClient = note.Kind{Code: "client.plan-beyond", Args: []string{"excess"}}
	noteExcessStreams    = note.Kind{Code: "excess.streams", Args: []string{"asked", "shown"}}
	noteExcessTokens     = note.Kind{Code: "excess.tokens", Args: []string{"asked", "shown"}}
	noteExcessArrivals   = note.Kind{Code: "excess.arrivals", Args: []string{"asked", "shown"}}
	noteOfStage          = note.Kind{Code: "client.stage", Args: []string{"stage", "why"}} // why holds one note

	// On the sweep.
	noteRetokenize     = note.Kind{Code: "retokenize.failed", Args: []string{"stage", "error"}}
	noteNotIdle        = note.Kind{Code: "server.not-idle", Args: []string{"stage", "error"}}
	noteNoTimeForRow   = note.Kind{Code: "budget.no-time-for-rate", Args: []string{"rate", "repeat"}}
	noteNoTimeRepeats  = note.Kind{Code: "budget.no-time-for-repeats", Args: []string{"repeats"}}
	noteBudgetCeiling  = note.Kind{Code: "budget.ended-ceiling-search", Args: []string{"in_flight"}}
	noteCapReached     = note.Kind{Code: "cap.reached", Args: []string{"rate"}}
	noteCeilingBounded = note.Kind{Code: "ceiling.bounded", Args: []string{"max_concurrency"}}
	noteAtLeast        = note.Kind{Code: "ceiling.at-least", Args: []string{"in_flight", "completed"}}
	noteCeilingStep    = note.Kind{Code: "ceiling.step", Args: []string{"in_flight", "tokens_per_s"}}
	noteBudgetPlan     = note.Kind{Code: "budget.plan", Args: []string{"left", "rates", "repeats", "stage_time", "requests", "drift", "p95_from", "p99_from"}}
	notePrecision      = note.Kind{Code: "precision.more-stages", Args: []string{"have", "wanted", "stages", "time"}}
	notePrecisionStops = note.Kind{Code: "precision.stops", Args: []string{"have", "wanted", "stages"}}
	noteShortStages    = note.Kind{Code: "stage-time.short", Args: []string{"latency", "stage_time", "advice"}}
	noteNoneDecided    = note.Kind{Code: "saturation.none-decided", Args: []string{"latency", "stage_time", "advice"}}
	noteNoneFilled     = note.Kind{Code: "saturation.none-filled", Args: []string{"rate", "max_concurrency"}}
	noteNoneBeyond     = note.Kind{Code: "saturation.none-beyond", Args: []string{"rate"}}
	noteSLOCollects    = note.Kind{Code: "slo.collects", Args: []string{"requests", "time"}}
	noteSLOTooSlow     = note.Kind{Code: "slo.too-slow", Args: []string{"rate", "stage_max"}}
	noteSLOSearch      = note.Kind{Code: "slo.search", Args: []string{"stages", "stage_max"}} // stage_max absent within a budget

	// Why a run ended as it did.
	noteKilled      = note.Kind{Code: "run.killed"}
	noteServerGone  = note.Kind{Code: "run.server-gone", Args: []string{"stage"}}
	noteNothingDone = note.Kind{Code: "run.nothing-succeeded"}
	noteNoRates     = note.Kind{Code: "run.no-rates"}
	noteBudgetOver  = note.Kind{Code: "run.budget-over", Args: []string{"budget", "stage"}}
	noteFailed      = note.Kind{Code: "run.failed", Args: []string{"error"}}
)

// Notes returns the kinds of notes that this package writes.
func Notes() []note.Kind {
	return []note.Kind{
		noteBeyondClient, notePlanBeyondClient, noteExcessStreams, noteExcessTokens, noteExcessArrivals, noteOfStage, noteRetokenize,
		noteNotIdle, noteNoTimeForRow, noteNoTimeRepeats, noteBudgetCeiling, noteCapReached, noteCeilingBounded, noteAtLeast, noteCeilingStep,
		noteBudgetPlan, notePrecision, notePrecisionStops, noteShortStages, noteNoneDecided, noteNoneFilled, noteNoneBeyond, noteSLOCollects, noteSLOTooSlow, noteSLOSearch, noteKilled, noteServerGone, noteNothingDone,
		noteNoRates, noteBudgetOver, noteFailed,
	}
}
