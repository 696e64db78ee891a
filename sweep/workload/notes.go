package workload

import "llmsweep/client/note"

// What is known of the length of made-up prompts.
var (
	noteLengthGuess   = note.Kind{Code: "prompts.length-guess", Args: []string{"error"}}
	noteLengthUnknown = note.Kind{Code: "prompts.not-checked", Args: []string{"error"}}
	noteLengthOff     = note.Kind{Code: "prompts.length-differs", Args: []string{"asked", "counted"}}
)
