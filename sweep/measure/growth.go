package measure

import (
	"math"
	"slices"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// A rate is sustained where nothing grows. Growth is measured twice. The backlog of all requests shows a server that is
// too slow as a whole. What a part of the requests waits shows a queue that only that part is in: that of one replica
// of twenty is a twentieth of the backlog, but who is in it waits 1 - served/arrived seconds longer each second,
// whatever its share. Both growths are shares of the rate: so much less is sustained.

// waitSeries holds when requests ended well, and how long after they were due their first token came, in seconds.
type waitSeries struct{ at, wait []float64 }

func (e *waitSeries) add(r *rundir.Record) {
	if len(e.at) < mostTraced && r.FirstToken.Known() {
		e.at, e.wait = append(e.at, r.End.Value()), append(e.wait, r.FirstToken.Value()-r.Due.Value())
	}
}

// longestWaits returns, of the requests that ended in each of n spans of a window, the wait that a share of them stays
// below; nil where a span has too few. It is the longest but one at most: a single giant request is no growth.
func (e *waitSeries) longestWaits(w Window, n int, share float64) []float64 {
	spans := make([][]float64, n)
	for i, at := range e.at {
		if k := int((at - w.From.Seconds()) / w.Length() * float64(n)); at >= w.From.Seconds() && k < n {
			spans[k] = append(spans[k], e.wait[i])
		}
	}
	longest := make([]float64, n)
	for i, waits := range spans {
		if len(waits) < fewestInSpan {
			return nil
		}
		slices.Sort(waits)
		longest[i] = waits[min(int(share*float64(len(waits))), len(waits)-2)]
	}
	return longest
}

// pauses are the times in which nothing came although requests waited or were refused.
type pauses struct {
	since   time.Duration   // when the present pause began; negative where there is none
	refused int             // number of requests that had been refused by the tick before
	ends    []time.Duration // when the pauses were over
	longest time.Duration
	total   time.Duration
}

// tick takes the tokens that arrived in a tick, those owed at its end, and the requests refused so far.
func (p *pauses) tick(now, width, least time.Duration, arrived, owed float64, refused int) {
	switch {
	case arrived > 0:
		if d := now - width - p.since; p.since >= 0 && d >= least {
			p.ends, p.longest, p.total = append(p.ends, now), max(p.longest, d), p.total+d
		}
		p.since = -1
	case p.since < 0 && (owed > 0 || refused > p.refused):
		p.since = now - width
	}
	p.refused = refused
}

func (p *pauses) summary(now, least time.Duration) (all rundir.Pauses) {
	n, longest, total := len(p.ends), p.longest, p.total
	if d := now - p.since; p.since >= 0 && d >= least {
		n, longest, total = n+1, max(longest, d), total+d
	}
	if n > 0 {
		all = rundir.Pauses{Count: n, Longest: rundir.Exactly(longest.Seconds()), Total: rundir.Exactly(total.Seconds())}
	}
	return all
}

// requestTime is that of lone requests where the stage has a rate, since a queue behind the first token makes it
// longer. A closed loop is always as full.
func (a *Account) requestTime() time.Duration {
	if a.closed() || a.LoneLatency == 0 {
		return a.service.median()
	}
	return a.LoneLatency
}

// waveTime is the time of a request, or from one pause to the next. Windows and batches span whole waves: a full server
// works on requests of equal length in step, so that its rates swing with them.
func (a *Account) waveTime() time.Duration {
	if n := len(a.pauses.ends); n >= fewestPauses && !a.closed() {
		return max(a.requestTime(), (a.pauses.ends[n-1]-a.pauses.ends[0])/time.Duration(n-1))
	}
	return a.requestTime()
}

// backlogGrowth also returns whether the backlog goes on to grow. Its lower bound allows for what a backlog walks by
// chance while the server is just fast enough: a line through it takes that for growth.
func (a *Account) backlogGrowth(w Window, level float64) (g rundir.Drift, lasts bool) {
	n := batches(w.To-w.From, a.waveTime(), maxSlopeBatches)
	first, end := a.ticks.Range(w.From, w.To)
	means, ok := stats.Batches(a.ticks.Ends[first:end], n)
	if n < minSlopeBatches || !ok || a.askedTokens <= 0 {
		return g, false
	}
	value, low, high := slope(means, level)
	scale := float64(n) / w.Length() / (a.askedTokens / float64(a.due)) / a.Rate
	chance := stats.RenewalError(a.timePerToken.variation(), a.Rate*w.Length(), 1-level)
	return growth(value*scale, min(low*scale, value*scale-chance), high*scale), keepsGrowing(means, value)
}

// keepsGrowing reports whether the second half of a series grows at least half as fast as the whole. A queue does; a
// server that fills up to its level does not.
func keepsGrowing(y []float64, slope float64) bool {
	n := len(y)
	mid := n / 2
	return (y[n-1]+y[n-2]-y[mid]-y[mid-1])/2 >= slope/2*float64(n-1-mid)
}

func spanCount(requests float64) int {
	return min(max(minSlopeBatches, int(requests/requestsPerSpan)), mostSpans)
}

// waitsGrowth returns how fast the waits grow of the part of the requests for which they grow most.
func (a *Account) waitsGrowth(w Window, level float64) (most rundir.Drift) {
	n := batches(w.To-w.From, a.waveTime(), spanCount(a.Rate*w.Length()))
	if n < minSlopeBatches {
		return most
	}
	span := w.Length() / float64(n)
	for _, share := range []float64{0.9, 1} {
		longest := a.firstTokenWaits.longestWaits(w, n, share)
		if longest == nil {
			return most
		}
		value, low, high := slope(longest, level/waitsLevel)
		switch {
		case math.IsNaN(low) || math.IsNaN(high):
		case !most.Low.Known():
			most = growth(value/span, low/span, high/span)
		case low/span > most.Low.Value(): // the upper bound of so few tells nothing
			most.Value, most.Low = rundir.Exactly(value/span), rundir.Exactly(low/span)
		}
	}
	return most
}

func growth(value, low, high float64) rundir.Drift {
	return rundir.Drift{Value: rundir.Exactly(value), Low: rundir.Exactly(low), High: rundir.Exactly(high)}
}

// tokenRates returns the output tokens per second that came due and, as the upper bound of a 95 % interval, those that
// were completed: with few requests a backlog grows by chance. Answers without tokens complete none, so that their
// backlog alone decides.
func (a *Account) tokenRates(w Window) (offered, completed float64) {
	if a.doneTokens <= 0 {
		return a.Rate, 0
	}
	offered = a.Rate * a.doneTokens / float64(a.done)
	first, end := a.ticks.Range(w.From, w.To)
	_, _, high, ok := stats.BatchMeans(a.ticks.Sums[first:end], batches(w.To-w.From, a.waveTime(), rateBatches))
	if !ok {
		return offered, math.Inf(1)
	}
	return offered, high / a.ticks.Width.Seconds()
}

func (a *Account) judge(w Window, level float64) {
	e := a.evidence(w, level)
	a.verdict, a.backlog, a.waits = e.verdict(a.Tolerance), e.backlog, e.waits
	if a.verdict == rundir.Undecided && a.Hold > 0 && level < errorLevel {
		// What is kept is lowered by the upper bound of its growth, so that a wrong "kept" costs little: its bound needs
		// no share of the error that the looks at a growth are allowed.
		if e := a.evidence(w, errorLevel); e.verdict(a.Tolerance) == rundir.Stable {
			a.verdict, a.backlog, a.waits = rundir.Stable, e.backlog, e.waits
		}
	}
}

// evidence reads a window. level is the error that its bounds may make.
func (a *Account) evidence(w Window, level float64) (e evidence) {
	now := w.To
	w = w.wholeWaves(a.waveTime())
	e.waits = a.waitsGrowth(w, level)
	e.taken = a.From > 0
	e.backlog, e.lasting = a.backlogGrowth(w, level)
	e.offered, e.completed = a.tokenRates(w)
	if a.Wave > 0 {
		a.fullEvidence(&e, now, level)
	}
	return e
}

// slope returns the growth per batch with its bounds, of two estimates the one with the narrower interval: a line suits
// averages that stay about one level, the mean step averages that walk away.
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

// overloadProgress returns what was completed per second while the backlog stayed above half of its largest, to the end
// of the ticks: load is kept up after the window. A server that slows down as a queue builds, or that used up what it
// had saved, completes less then than over the whole window. The zero Progress stands for no such time.
func (a *Account) overloadProgress(w Window) rundir.Progress {
	first, _ := a.ticks.Range(w.From, w.To)
	ends := a.ticks.Ends[first:]
	if len(ends) == 0 || a.doneTokens <= 0 {
		return rundir.Progress{}
	}
	deep := deepBacklog * slices.Max(ends)
	from := len(ends)
	for from > 0 && ends[from-1] >= deep {
		from--
	}
	sums := a.ticks.Sums[first+from:]
	if wave := int(a.waveTime() / a.ticks.Width); wave > 0 { // whole waves, from the end on
		sums = sums[len(sums)%wave:]
	}
	if len(sums) == 0 {
		return rundir.Progress{}
	}
	scale := 1 / a.ticks.Width.Seconds() / (a.doneTokens / float64(a.done))
	n := max(1, batches(time.Duration(len(sums))*a.ticks.Width, a.waveTime(), rateBatches))
	mean, low, high, ok := stats.BatchMeans(sums, n)
	if !ok {
		return rundir.Progress{Rate: rundir.Exactly(stats.Mean(sums) * scale)}
	}
	return rundir.Progress{Rate: rundir.Exactly(mean * scale), Low: rundir.Exactly(max(0, low) * scale),
		High: rundir.Exactly(high * scale), Batches: n}
}
