// Judges whether a server sustained the rate of a stage.

package measure

import (
	"slices"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
	"llmsweep/sweep/stats"
)

// evidence is what a verdict rests on.
type evidence struct {
	Ticks      *sample.Ticks // output tokens that arrived, and those owed: the backlog
	Asked      float64       // output tokens asked for by a request, on average
	PerRequest float64       // output tokens of a request, counted as they came
	Service    time.Duration // how long a request is being served
	Rate       float64       // asked, per second
	Tolerance  float64       // drift below this share of Rate counts as none
	Level      float64       // error allowed on either side
	Varies     float64       // coefficient of variation of a request's time per token
}

// chance returns by how much the backlog grows in a window while the server is just as fast as is asked, as a share of the rate: an upper bound at the level
// of error. A line through the backlog does not tell it: it takes a walk without drift for growth.
func (e *evidence) chance(w Window) float64 {
	return stats.RenewalError(e.Varies, e.Rate*w.Length(), 1-e.Level)
}

// Judge returns whether the rate was sustained in a window, and the drift of the backlog as a share of the rate. A stage is stable where
// the upper bound of the drift is below the tolerance: that shows more than the absence of a significant drift. It is saturated where the
// lower bound of the drift is above zero, the growth does not level off, and the server completes less than was asked: while it keeps up
// with the rate, a growing queue is a burst of arrivals.
func (e *evidence) Judge(w Window) (verdict rundir.Verdict, drift rundir.Drift) {
	w = w.wholeWaves(e.Service)
	n := batches(w.To-w.From, e.Service, maxSlopeBatches)
	if n < minSlopeBatches || w.To <= w.From {
		return rundir.Undecided, drift
	}
	first, end := e.Ticks.Between(w.From, w.To)
	batches, ok := stats.Batches(e.Ticks.Ends[first:end], n)
	if !ok || e.Asked <= 0 {
		return rundir.Undecided, drift
	}
	trend, low, high := slope(batches, e.Level)
	scale := float64(n) / w.Length() / e.Asked / e.Rate
	low = min(low*scale, trend*scale-e.chance(w))
	drift = rundir.Drift{Value: rundir.Exactly(trend * scale), Low: rundir.Exactly(low), High: rundir.Exactly(high * scale)}
	switch {
	case high*scale < -e.Tolerance: // it still works off what piled up before, in a pause or at the start
	case high*scale < e.Tolerance:
		return rundir.Stable, drift
	case low > 0 && growsOn(batches, trend) && e.fallsBehind(w):
		return rundir.Saturated, drift
	}
	return rundir.Undecided, drift
}

// fallsBehind reports whether the server completes less than the asked rate, by the upper bound of a 95 % interval.
func (e *evidence) fallsBehind(w Window) bool {
	if e.PerRequest <= 0 {
		return true // answers without tokens: the growth alone decides
	}
	first, end := e.Ticks.Between(w.From, w.To)
	_, _, high, ok := stats.BatchMeans(e.Ticks.Sums[first:end], batches(w.To-w.From, e.Service, rateBatches))
	return ok && high/e.Ticks.Width.Seconds()/e.PerRequest < e.Rate
}

// growsOn reports whether the second half of a series of batches grows at least half as fast as the whole. A queue does; a server that
// fills up to its level does not.
func growsOn(y []float64, slope float64) bool {
	n := len(y)
	mid := n / 2
	return (y[n-1]+y[n-2]-y[mid]-y[mid-1])/2 >= slope/2*float64(n-1-mid)
}

// slope returns the growth per batch with its bounds, of two estimates the one with the narrower interval: a line, which suits averages
// that stay about one level, or the mean step, which suits averages that walk away.
func slope(y []float64, level float64) (slope, low, high float64) {
	line, _ := stats.FitTrend(y)
	low, high = line.Bounds(level)
	if step, ok := stats.MeanStep(y); ok {
		if l, h := step.Bounds(level); h-l < high-low {
			return step.Slope, l, h
		}
	}
	return line.Slope, low, high
}

// Behind returns what the server completed per second from the time on at which the backlog stayed above half of its largest, to the end of
// the ticks. Load is kept up after the window, so that the backlog is largest there. A server that slows down as a queue builds completes
// less then than over the whole window. The zero Progress stands for no such time.
func (e *evidence) Behind(w Window) rundir.Progress {
	first, _ := e.Ticks.Between(w.From, w.To)
	ends := e.Ticks.Ends[first:]
	if len(ends) == 0 || e.PerRequest <= 0 {
		return rundir.Progress{}
	}
	far := deep * slices.Max(ends)
	from := len(ends)
	for from > 0 && ends[from-1] >= far {
		from--
	}
	sums := e.Ticks.Sums[first+from:]
	if wave := int(e.Service / e.Ticks.Width); wave > 0 { // whole waves, from the end on
		sums = sums[len(sums)%wave:]
	}
	if len(sums) == 0 {
		return rundir.Progress{}
	}
	scale := 1 / e.Ticks.Width.Seconds() / e.PerRequest
	n := max(1, batches(time.Duration(len(sums))*e.Ticks.Width, e.Service, rateBatches))
	mean, low, high, ok := stats.BatchMeans(sums, n)
	if !ok {
		return rundir.Progress{Rate: rundir.Exactly(stats.Mean(sums) * scale)}
	}
	return rundir.Progress{Rate: rundir.Exactly(mean * scale), Low: rundir.Exactly(max(0, low) * scale), High: rundir.Exactly(high * scale), Batches: n}
}
