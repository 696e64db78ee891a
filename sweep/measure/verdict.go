package measure

import (
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
	"llmsweep/sweep/stats"
)

// A server full of requests of equal length works in waves: those that began together end together, and the next begin.
// What is averaged over anything but whole waves swings with them. A wave takes as long as a request is served, so
// windows and batches are whole service times where there are few of them.
const (
	maxSlopeBatches = 30 // a slope is fitted to at most this many averages, so that each spans many requests,
	minSlopeBatches = 5  // and to at least this many: a line through fewer fits anything
	manyWaves       = 10 // from here on a part of a wave more or less makes no difference
)

// waveBatches returns into how many batches a window is cut, each a whole number of service times where that matters.
func waveBatches(window, service time.Duration, most int) int {
	const nearlyWhole = 0.01 // of a wave: it may be missing
	if service <= 0 {
		return most
	}
	return min(int(float64(window)/float64(service)+nearlyWhole), most)
}

// wholeWaves moves the start of a window so that it holds whole waves.
func wholeWaves(from, to, service time.Duration) time.Duration {
	if n := waveBatches(to-from, service, manyWaves); n > 0 && n < manyWaves {
		return to - time.Duration(n)*service
	}
	return from
}

// transient returns the end of the opening transient in the rate of tokens, averaged over waves. ok is false where the stage is too short
// to tell. The rate of an idle server can only rise: where the part to cut is no lower than the rest, MSER has found a lull or a
// burst of arrivals. To choose the window by those would falsify its rates, and nothing is cut.
func transient(tokens []float64, tick, service time.Duration) (cut time.Duration, ok bool) {
	const lower = 0.9 // than the rest, by a tenth at least; checked by TestVerdicts
	smooth := stats.MovingMean(tokens, int(service/tick))
	n, ok := stats.MSER5(smooth)
	if n > 0 && stats.Mean(smooth[:n]) > lower*stats.Mean(smooth[n:]) {
		return 0, len(smooth) > 0
	}
	return time.Duration(n) * tick, ok
}

// evidence is what a verdict rests on.
type evidence struct {
	ticks      *sample.Ticks // output tokens that arrived, and those owed: the backlog
	asked      float64       // output tokens asked for by a request, on average
	perRequest float64       // output tokens of a request, counted as they came
	service    time.Duration // how long a request is being served
	rate       float64       // asked, per second
	tolerance  float64       // drift below this share of rate counts as none
	level      float64       // error allowed on either side
}

// judge returns whether the asked rate is sustained, from what was seen in a window. It is stable when the drift's upper
// bound is below the tolerance, which is more than not having found any. It is saturated when the drift's lower
// bound is above zero, the growth does not level off, and the server gets less done than is asked for: a queue that
// grows while the server keeps up with the rate is a burst of arrivals.
func (e *evidence) judge(w Window) (verdict string, drift rundir.Drift) {
	n := waveBatches(w.To-w.From, e.service, maxSlopeBatches)
	if n < minSlopeBatches || w.To <= w.From {
		return rundir.Undecided, drift
	}
	first, end := e.ticks.Between(w.From, w.To)
	batches, ok := stats.Batches(e.ticks.Ends[first:end], n)
	if !ok || e.asked <= 0 {
		return rundir.Undecided, drift
	}
	trend, low, high := slope(batches, e.level)
	scale := float64(n) / (w.To - w.From).Seconds() / e.asked / e.rate
	drift = rundir.Drift{
		Value: rundir.Exactly(trend * scale),
		Low:   rundir.Exactly(low * scale),
		High:  rundir.Exactly(high * scale),
	}
	switch {
	case high*scale < e.tolerance:
		return rundir.Stable, drift
	case low > 0 && growsOn(batches, trend) && e.fallsBehind(w):
		return rundir.Saturated, drift
	}
	return rundir.Undecided, drift
}

// fallsBehind reports whether the server gets less done than the asked rate, by the upper bound of a 95 % interval.
func (e *evidence) fallsBehind(w Window) bool {
	if e.perRequest <= 0 {
		return true // no tokens: the growth alone must do
	}
	first, end := e.ticks.Between(w.From, w.To)
	_, _, high, ok := stats.BatchMeans(e.ticks.Sums[first:end], waveBatches(w.To-w.From, e.service, progressBatches))
	return ok && high/e.ticks.Width.Seconds()/e.perRequest < e.rate
}

// growsOn reports whether the second half of a series of batches grows at least half as fast as the whole: a queue does, while
// a server that fills up to its level slows down.
func growsOn(y []float64, slope float64) bool {
	n := len(y)
	mid := n / 2
	return (y[n-1]+y[n-2]-y[mid]-y[mid-1])/2 >= slope/2*float64(n-1-mid)
}

// slope bounds the growth per batch in the way that suits the series better: a line through averages that stay about
// one level, or the mean step of averages that walk away.
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
