package published

import "llmsweep/client/note"

// noteReadFrom is of a result that another tool printed: no records are behind its numbers.
var noteReadFrom = note.Kind{Code: "published.read-from", Args: []string{"file", "line"}}

// Notes returns the kinds of notes that this package writes.
func Notes() []note.Kind { return append([]note.Kind{noteReadFrom}, definitionNotes()...) }
