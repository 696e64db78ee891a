package saturation

import "llmsweep/client/note"

// Notes on the saturation rate. Rates are per second.
var (
	noteMixedVerdicts = note.Kind{Code: "saturation.mixed-verdicts", Args: []string{"rate", "stable", "saturated"}}
	noteAgainst       = note.Kind{Code: "saturation.against-neighbours", Args: []string{"stage", "verdict"}}
	noteNotFilled     = note.Kind{Code: "saturation.ceiling-not-filled", Args: []string{"in_flight", "completed", "at_least"}}
	noteOverloadCosts = note.Kind{Code: "saturation.overload-costs", Args: []string{"completed", "in_flight", "overloaded"}}

	// noteBelowLone says that the server completed more with one request at a time than the saturation rate is.
	noteBelowLone = note.Kind{Code: "saturation.below-lone", Args: []string{"completed", "rate"}}

	noteOverloadOrChange = note.Kind{Code: "saturation.overload-or-change", Args: []string{"completed", "in_flight", "overloaded", "stage_time"}}

	// The evidence.
	noteRefused       = note.Kind{Code: "saturation.refused", Args: []string{"offered", "share", "completed"}}
	noteUndone        = note.Kind{Code: "saturation.undone", Args: []string{"offered", "share", "completed"}}
	noteBacklogGrew   = note.Kind{Code: "saturation.backlog-grew", Args: []string{"offered", "growth", "completed"}}
	noteWaitsGrew     = note.Kind{Code: "saturation.waits-grew", Args: []string{"offered", "growth", "sustained"}} // growth in seconds per second
	noteCeilingAlone  = note.Kind{Code: "saturation.ceiling", Args: []string{"in_flight", "completed"}}
	noteNoneSaturated = note.Kind{Code: "saturation.ceiling-none-saturated", Args: []string{"in_flight", "completed"}}
)
