package sweep

import "llmsweep/client/note"

// Notes on a sweep. Rates are per second.
var (
	noteGuess         = note.Kind{Code: "answer.guess", Args: []string{"rate"}}
	noteSoFar         = note.Kind{Code: "answer.so-far", Args: []string{"low", "high"}}
	noteAtLeast       = note.Kind{Code: "answer.at-least", Args: []string{"low"}}
	noteAtMost        = note.Kind{Code: "answer.at-most", Args: []string{"high"}}
	noteOmittedRates  = note.Kind{Code: "grid.left-out", Args: []string{"budget", "count", "of", "rates"}}
	noteDeferredRates = note.Kind{Code: "grid.last", Args: []string{"budget", "rates"}}
	noteClientLimit   = note.Kind{Code: "client.limit", Args: []string{"rows", "why"}} // why holds one note
	noteNoRates       = note.Kind{Code: "run.no-rates"}
)
