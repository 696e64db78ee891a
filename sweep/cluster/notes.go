package cluster

import (
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

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

// Unfit returns a note on a rank that was too slow to measure, and why.
func Unfit(r *rundir.Rank, why note.Note) note.Note {
	return noteUnfit.New(r.Rank, r.Host, []note.Note{why})
}

// OnStage returns a note on a stage.
func OnStage(stage string, why note.Note) note.Note { return noteOnStage.New(stage, []note.Note{why}) }

// maxAlignment is the largest error of the ranks' clocks, as a share of the mean time between two requests, that a stage has no warning for.
const maxAlignment = 0.1

// Misaligned reports whether the error of the ranks' clocks, in seconds, is too large for arrivals at a rate; a closed loop has none.
func Misaligned(rate, seconds float64) bool { return rate > 0 && seconds > maxAlignment/rate }

// Alignment returns a note on a rank whose clock is known no better than that many seconds, for arrivals at a rate.
func Alignment(r *rundir.Rank, rate, seconds float64) note.Note {
	return noteAlignment.New(r.Rank, r.Host, seconds, 1/rate)
}
