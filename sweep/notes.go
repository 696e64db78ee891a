package sweep

import "llmsweep/client/note"

// Notes on a sweep. Rates are per second, times in seconds, shares from 0 to 1.
var (
	noteNoTimeForRow   = note.Kind{Code: "budget.no-time-for-rate", Args: []string{"rate"}}
	noteCapReached     = note.Kind{Code: "cap.reached", Args: []string{"rate"}}
	noteCeilingStep    = note.Kind{Code: "ceiling.step", Args: []string{"in_flight", "tokens_per_s"}}
	noteBudgetPlan     = note.Kind{Code: "budget.plan", Args: []string{"left", "rates", "stage_time", "requests", "drift", "p95_from", "p99_from"}}
	notePrecision      = note.Kind{Code: "precision.more-stages", Args: []string{"have", "wanted", "stages", "time"}}
	notePrecisionStops = note.Kind{Code: "precision.stops", Args: []string{"have", "wanted", "stages"}}
	noteSLOCollects    = note.Kind{Code: "slo.collects", Args: []string{"requests", "time"}}
	noteSLOTooSlow     = note.Kind{Code: "slo.too-slow", Args: []string{"rate", "stage_max"}}
	noteSLOSearch      = note.Kind{Code: "slo.search", Args: []string{"stages", "until"}} // until absent where nothing bounds it but the precision
	noteSLOEnds        = note.Kind{Code: "slo.search-ended", Args: []string{"time"}}
	noteSLOTakes       = note.Kind{Code: "slo.takes", Args: []string{"requests", "stage", "rate", "stage_time"}}
	noteCeilingClient  = note.Kind{Code: "ceiling.client", Args: []string{"in_flight"}}
	noteClientLimit    = note.Kind{Code: "client.limit", Args: []string{"rows", "why"}} // why holds one note
	noteNoRates        = note.Kind{Code: "run.no-rates"}
)
