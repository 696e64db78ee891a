package measure

import (
	"math"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/stats"
)

// A full server works on requests of equal length in waves: requests that began together end together, and the next
// ones begin. Its rates swing with these waves, so that a mean is right only over whole waves. A wave takes as long as
// one request is being served. Windows and batches therefore span whole service times, unless they span many.

// batches returns into how many batches to cut a window of some length: at most the given number, and no more than it
// holds service times. A service time of 0 is unknown.
func batches(length, service time.Duration, most int) int {
	if service <= 0 {
		return most
	}
	return min(int(float64(length)/float64(service)+nearlyWhole), most)
}

// wholeWaves moves the start of a window so that it holds whole waves: to a later instant, or an earlier one where a
// little of the first wave is missing.
func wholeWaves(from, to, service time.Duration) time.Duration {
	if n := batches(to-from, service, manyWaves); n > 0 && n < manyWaves {
		return max(0, to-time.Duration(n)*service)
	}
	return from
}

// openWindow begins no sooner than the first requests can have ended, so that as many end in it as come due; and then
// when as many have come due as the rate asks for.
func (a *Account) openWindow(cut, to, service time.Duration) Window {
	limit := 3 * to / 4
	switch {
	case a.From > 0:
		cut = min(a.From, to/2)
	case service < to/4:
		cut = max(cut, service)
	}
	if a.Arrivals != nil {
		for at := range arrival.EvenInstants(a.Arrivals(), a.Rate, cut, limit) {
			return Window{From: at, To: to}
		}
	}
	return Window{From: cut, To: to}
}

// levelWindow returns the part of a window at whose ends about as much is owed, and as many have come due as the rate
// asks for: what is completed in it is what was offered, unless the backlog grows. Stages that begin on an idle server
// and rows of some precision need all of their requests: their windows stay whole.
func (a *Account) levelWindow(w Window) Window {
	last := a.ticks.Count(w.To) - 1
	if a.Arrivals == nil || a.From == 0 || a.Precision > 0 || last < 0 || a.askedTokens == 0 {
		return w
	}
	const shorter = 0.05 // of the window: as bad as a change by so much of what was offered
	best, least := w, math.Inf(1)
	whole, tokens := w.To-w.From, a.Rate*a.askedTokens/float64(a.due)
	owed := func(at time.Duration) float64 { return a.ticks.Ends[min(a.ticks.Count(at), last)] }
	var starts, ends []time.Duration // one in each tick
	for at := range arrival.EvenInstants(a.Arrivals(), a.Rate, w.From, w.To) {
		each := &starts
		switch {
		case at >= w.To-whole/3:
			each = &ends
		case at > w.From+whole/3:
			continue
		}
		if n := len(*each); n == 0 || a.ticks.Count(at) > a.ticks.Count((*each)[n-1]) {
			*each = append(*each, at)
		}
	}
	ends = append(ends, w.To)
	for _, from := range starts {
		for _, to := range ends {
			changed := math.Abs(owed(to)-owed(from)) / tokens / (to - from).Seconds()
			if bad := changed + shorter*(1-float64(to-from)/float64(whole)); bad < least {
				best, least = Window{From: from, To: to}, bad
			}
		}
	}
	return best
}

func (w Window) wholeWaves(service time.Duration) Window {
	return Window{From: wholeWaves(w.From, w.To, service), To: w.To}
}

// opening returns the end of a stage's opening transient.
func (a *Account) opening(to, service time.Duration) (end time.Duration, ok bool) {
	if a.From > 0 {
		return a.From, true
	}
	return transient(a.ticks.Sums[:a.ticks.Count(to)], a.ticks.Width, service)
}

// transient returns the end of a stage's opening transient, from the tokens that arrived in each tick. ok is false
// where the stage is too short to find it. An idle server that fills up can only get faster: where the rate is not
// lower before MSER-5's cut than after it, the cut is at a lull or a burst of arrivals, and none is made.
func transient(tokens []float64, tick, service time.Duration) (end time.Duration, ok bool) {
	smooth := stats.MovingMean(tokens, int(service/tick))
	n, ok := stats.MSER5(smooth)
	if n > 0 && stats.Mean(smooth[:n]) > opensSlower*stats.Mean(smooth[n:]) {
		return 0, len(smooth) > 0
	}
	return time.Duration(n) * tick, ok
}
