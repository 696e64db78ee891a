package published

import "llmsweep/client/note"

// noteReadFrom is of a result that another tool printed: no records are behind its numbers. The others are on its
// labels, and on results that were joined.
var (
	noteReadFrom      = note.Kind{Code: "published.read-from", Args: []string{"file", "line"}}
	noteContradiction = note.Kind{Code: "published.contradiction", Args: []string{"label", "taken", "line", "other",
		"other_line"}}
	noteFlagWins      = note.Kind{Code: "published.flag-wins", Args: []string{"label", "given", "found", "line"}}
	noteJoined        = note.Kind{Code: "published.joined", Args: []string{"tables", "lines"}}
	noteHardwareLater = note.Kind{Code: "published.hardware-later", Args: []string{"line", "at"}}
	noteOutOfOrder    = note.Kind{Code: "published.out-of-order", Args: []string{"lines", "launch", "other"}}
)
