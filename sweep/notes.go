package sweep

import "llmsweep/client/note"

// Notes on a sweep. Rates are per second.
var (
	noteGuess        = note.Kind{Code: "answer.guess", Args: []string{"rate"}}
	noteSoFar        = note.Kind{Code: "answer.so-far", Args: []string{"low", "high"}}
	noteAtLeast      = note.Kind{Code: "answer.at-least", Args: []string{"low"}}
	noteAtMost       = note.Kind{Code: "answer.at-most", Args: []string{"high"}}
	noteTakes        = note.Kind{Code: "plan.takes", Args: []string{"takes"}}                    // seconds, as below
	noteBudgetAnswer = note.Kind{Code: "plan.budget", Args: []string{"budget", "rows", "takes"}} // takes: without it
	noteBudgetRows   = note.Kind{Code: "plan.budget-rows", Args: []string{"budget", "rows", "takes"}}
	noteOmittedRates = note.Kind{Code: "grid.left-out", Args: []string{"budget", "count", "of", "rates"}}
	noteClientLimit  = note.Kind{Code: "client.limit", Args: []string{"rows", "why"}} // why holds one note
	noteNoRates      = note.Kind{Code: "run.no-rates"}
)
