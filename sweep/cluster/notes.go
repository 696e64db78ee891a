package cluster

import "llmsweep/client/note"

// Notes on ranks. Times are in seconds.
var (
	noteLost      = note.Kind{Code: "cluster.lost", Args: []string{"rank", "host", "stage", "error"}}
	noteStalled   = note.Kind{Code: "cluster.stalled", Args: []string{"rank", "host", "stage", "time"}}
	noteLate      = note.Kind{Code: "cluster.late", Args: []string{"rank", "host", "stage", "time"}}
	noteBroken    = note.Kind{Code: "cluster.broken", Args: []string{"rank", "host", "stage", "error"}}
	noteDiffers   = note.Kind{Code: "cluster.differs", Args: []string{"rank", "host", "stage"}}
	noteUnfit     = note.Kind{Code: "cluster.unfit", Args: []string{"rank", "host", "why"}} // why holds one note
	noteAlignment = note.Kind{Code: "cluster.alignment", Args: []string{"rank", "host", "error", "gap"}}
	noteShared    = note.Kind{Code: "cluster.limit-shared", Args: []string{"limit", "ranks"}}
	noteOnStage   = note.Kind{Code: "cluster.stage", Args: []string{"stage", "why"}} // why holds one note
)

// Notes returns the kinds of notes that this package writes.
func Notes() []note.Kind {
	return []note.Kind{noteLost, noteStalled, noteLate, noteBroken, noteDiffers, noteUnfit, noteAlignment, noteShared, noteOnStage}
}
