package measure

import (
	"iter"

	"llmsweep/sweep/rundir"
)

// ValueOf returns a metric of a request, as it is counted in the stage's distribution of that metric: a lower bound where the request
// was cut off, absent where it has none. The metric is one of package slo: TTFT, TTFTDue, TPOT or Latency.
func ValueOf(metric string, r *rundir.Record) rundir.Number { return valueOf(metric, r) }

// Arrivals yields when the tokens of an answer arrived, in seconds from the stage's start, and how many; perChunk is what a chunk of the
// stage holds on average, for answers that do not tell.
func Arrivals(r *rundir.Record, perChunk float64) iter.Seq2[float64, float64] {
	return tokenCounter{perChunk: perChunk}.arrivals(r)
}

// Counts reports whether the gaps of a request are part of the stage's distribution of gaps: those of answers that ended well or were cut off.
func Counts(r *rundir.Record) bool { return ok(r) || censored(r) }
