package fidelity

import "llmsweep/client/note"

// Notes on what limits the comparison of answers.
var (
	noteRefused  = note.Kind{Code: "fidelity.refused"}
	noteNotTaken = note.Kind{Code: "fidelity.logprobs-refused"}
	noteNotSent  = note.Kind{Code: "fidelity.logprobs-not-sent"}
	noteStrange  = note.Kind{Code: "fidelity.logprobs-unknown"}
	noteUnsteady = note.Kind{Code: "fidelity.unsteady", Args: []string{"differ", "answers"}}
	noteThinks   = note.Kind{Code: "fidelity.thinks", Args: []string{"answers"}}
	noteCut      = note.Kind{Code: "fidelity.other-tokens", Args: []string{"answers"}}
)
