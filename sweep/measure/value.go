package measure

import (
	"iter"

	"llmsweep/sweep/rundir"
)

// Arrivals yields when the tokens of an answer arrived, in seconds from the stage's start, and how many; perChunk is
// what a chunk of the stage holds on average, for answers that do not tell.
func Arrivals(r *rundir.Record, perChunk float64) iter.Seq2[float64, float64] {
	return tokenCounter{perChunk: perChunk}.arrivals(r)
}
