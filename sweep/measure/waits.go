package measure

import (
	"math"
	"slices"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// A queue to which more comes than it is served grows, and what comes to it waits longer by (arrivals/served - 1) seconds each second, however small its share
// of all requests is: that of one replica of several, or of a low priority. The backlog of all shows such a queue by its share alone.

// waits are the times from when requests were due to their first tokens.
type waits struct{ due, wait []float64 } // seconds

func (w *waits) add(r *rundir.Record) {
	if len(w.due) >= mostTraced || !r.FirstToken.Known() && !r.Censored() {
		return
	}
	w.due, w.wait = append(w.due, r.Due.Value()), append(w.wait, r.FirstToken.Or(r.End.Value())-r.Due.Value())
}

// spans returns into how many spans a window is cut to see the waits grow.
func (w *waits) spans(in Window, service time.Duration) int {
	return batches(in.To-in.From, service, min(maxSlopeBatches, len(w.due)/perSpan))
}

// growth returns by how many seconds per second the longest waits grow within a window, by their quantile in each of n spans of it. It is zero where a span
// has too few requests to tell.
func (w *waits) growth(in Window, n int) (g rundir.Drift) {
	const fewest = perSpan / 4 // requests in a span
	if n < minSlopeBatches {
		return g
	}
	spans := make([][]float64, n)
	span := in.Length() / float64(n)
	for i, due := range w.due {
		k := int((due - in.From.Seconds()) / span)
		spans[min(max(k, 0), n-1)] = append(spans[min(max(k, 0), n-1)], w.wait[i])
	}
	longest := make([]float64, n)
	for i, waits := range spans {
		if len(waits) < fewest {
			return g
		}
		slices.Sort(waits)
		longest[i] = stats.Quantile(waits, 1-slowest)
	}
	value, low, high := slope(longest, errorLevel)
	if math.IsNaN(low) || math.IsNaN(high) {
		return g
	}
	return rundir.Drift{Value: rundir.Exactly(value / span), Low: rundir.Exactly(low / span), High: rundir.Exactly(high / span)}
}

// outgrown returns what a server completes for ever of a rate at which the waits of a part of its requests grow: that part of it gets more than it serves.
func outgrown(offered float64, growth rundir.Drift, spans int) rundir.Progress {
	at := func(g rundir.Number) rundir.Number { return rundir.Exactly(offered / (1 + max(0, g.Value()))) }
	return rundir.Progress{Rate: at(growth.Value), Low: at(growth.High), High: at(growth.Low), Batches: spans}
}
