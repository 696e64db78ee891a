package cluster

import (
	"fmt"
	"strings"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// The kinds of notes on ranks. Times are in seconds.
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

// maxAlignment is the largest error of the ranks' clocks, as a share of the mean time between two requests, that a stage has no warning for.
const maxAlignment = 0.1

// misaligned reports whether the error of the ranks' clocks, in seconds, is too large for arrivals at a rate; a closed loop has none.
func misaligned(rate, seconds float64) bool { return rate > 0 && seconds > maxAlignment/rate }

// alignment returns a note on a rank whose clock is known no better than that many seconds, for arrivals at a rate.
func alignment(r *rundir.Rank, rate, seconds float64) note.Note {
	return noteAlignment.New(r.Rank, r.Host, seconds, 1/rate)
}

// Names returns "rank 2" or "ranks 2, 3".
func Names(ranks []int) string {
	var all []string
	for _, r := range ranks {
		all = append(all, fmt.Sprint(r))
	}
	if len(all) == 1 {
		return "rank " + all[0]
	}
	const most = 8
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("and %d more", len(ranks)-most))
	}
	return "ranks " + strings.Join(all, ", ")
}
