package grade

import "llmsweep/client/note"

// Notes on what limits the grading.
var (
	noteCut  = note.Kind{Code: "grades.cut", Args: []string{"cut", "answers"}}
	noteNone = note.Kind{Code: "grades.none", Args: []string{"none", "answers"}}
)
