package published

import "llmsweep/client/note"

// What headings and remarks say of a result.
var (
	noteNoLength = note.Kind{Code: "published.no-length", Args: []string{"text"}}
	noteUnclear  = note.Kind{Code: "published.unclear", Args: []string{"text"}}
	noteWarmUp   = note.Kind{Code: "published.warm-up", Args: []string{"line", "text"}}
)
