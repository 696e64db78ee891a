package saturation

import "llmsweep/client/note"

// Notes on an answer. Rates are per second, times in seconds.
var (
	noteAtLeast     = note.Kind{Code: "ceiling.at-least", Args: []string{"in_flight", "completed", "budget", "max_concurrency"}} // one of the last two
	noteWide        = note.Kind{Code: "saturation.wide", Args: []string{"half", "budget", "stage_time"}}                         // one of the last two
	noteNoneBudget  = note.Kind{Code: "saturation.none-budget", Args: []string{"budget", "advice"}}
	noteNoneDecided = note.Kind{Code: "saturation.none-decided", Args: []string{"latency", "stage_time", "advice"}}
	noteNoneFilled  = note.Kind{Code: "saturation.none-filled", Args: []string{"rate", "max_concurrency", "undecided", "stage_time"}} // one of the second and the last
	noteNoneSteady  = note.Kind{Code: "saturation.none-steady", Args: []string{"rate", "undecided", "stage_time"}}
	noteNoneInvalid = note.Kind{Code: "saturation.none-invalid", Args: []string{"stages", "why"}} // why holds one note
	noteNoneBeyond  = note.Kind{Code: "saturation.none-beyond", Args: []string{"rate"}}
	noteKilled      = note.Kind{Code: "run.killed"}
	noteInProgress  = note.Kind{Code: "run.in-progress"}
)

// Notes of the search for the ceiling on why it ended before the output stopped growing. The saturation rate is then a lower bound.
var (
	BudgetCeiling  = note.Kind{Code: "budget.ended-ceiling-search", Args: []string{"in_flight"}}
	CeilingBounded = note.Kind{Code: "ceiling.bounded", Args: []string{"max_concurrency"}}
)
