package saturation

import "llmsweep/client/note"

// Notes on the saturation rate. Rates are per second, times in seconds since the run's start, shares from 0 to 1.
var (
	// noteChanged says that a hold was contradicted by a later one: the server changed, or had burst capacity left.
	noteChanged = note.Kind{Code: "saturation.changed", Args: []string{"rate", "at", "later", "later_at"}}

	// What was seen in the hold that failed.
	noteRefused     = note.Kind{Code: "saturation.refused", Args: []string{"share"}}
	noteUndone      = note.Kind{Code: "saturation.undone", Args: []string{"share"}}
	noteShortened   = note.Kind{Code: "saturation.shortened", Args: []string{"share"}} // of the length of lone answers
	noteBacklogGrew = note.Kind{Code: "saturation.backlog-grew"}
	noteWaitsGrew   = note.Kind{Code: "saturation.waits-grew", Args: []string{"growth"}} // seconds per second

	// Why there is no answer.
	noteNone        = note.Kind{Code: "saturation.none", Args: []string{"guess"}}
	noteNoneInvalid = note.Kind{Code: "saturation.none-invalid", Args: []string{"stages", "why"}} // why holds one note

	noteKilled     = note.Kind{Code: "run.killed"}
	noteInProgress = note.Kind{Code: "run.in-progress"}
)
