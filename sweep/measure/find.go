package measure

import (
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
// when as many have come due as the rate asks for, at a mark at the latest, of which there is one before three quarters
// of the time.
func (a *Account) openWindow(cut, to, service time.Duration) Window {
	if service < to/4 {
		cut = max(cut, service)
	}
	if a.Arrivals != nil {
		cut = arrival.EvenInstant(a.Arrivals(), a.Rate, cut, 3*to/4)
	}
	return Window{From: cut, To: to}
}

func (w Window) wholeWaves(service time.Duration) Window {
	return Window{From: wholeWaves(w.From, w.To, service), To: w.To}
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
