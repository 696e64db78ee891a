package sweep

import (
	"math"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// A stage is looked at this often at most, and the error that is allowed is spent over the looks, so that looking again
// does not turn chance into a finding: as the square of the time gone, most of it on the last look, which has the most to go
// by (Kim and DeMets, Biometrika 74 (1987)). The looks' errors are added up (Boole), as if no two ever coincided.
const (
	maxLooks   = 7
	errorLevel = 0.05
)

// spent is the part of the error that the k-th look may make, k from 1 to maxLooks.
func spent(k int) float64 {
	share := func(k int) float64 { return math.Pow(float64(min(k, maxLooks))/maxLooks, 2) }
	return errorLevel * (share(k) - share(k-1))
}

// A server full of requests of equal length works in waves: those that began together end together, and the next begin.
// What is averaged over anything but whole waves swings with them. A wave takes as long as a request is served, so
// windows and batches are whole service times where there are few of them.
const (
	mostBatches  = 30 // a slope is fitted to so many averages at most: each still spans many requests
	fewestWaves  = 5  // and to so many at least
	severalWaves = 10 // from here on a part of a wave more or less makes no difference
)

// waveBatches is how many batches a window is cut into, each a whole number of service times where that matters.
func waveBatches(window, service time.Duration, most int) int {
	if service <= 0 {
		return most
	}
	return min(int(float64(window)/float64(service)+0.01), most)
}

// wholeWaves cuts the beginning of a window so that it holds whole waves.
func wholeWaves(from, to, service time.Duration) time.Duration {
	if n := waveBatches(to-from, service, severalWaves); n > 0 && n < severalWaves {
		return to - time.Duration(n)*service
	}
	return from
}

// looks decides when a stage has gone on for long enough.
type looks struct {
	spec  *Spec
	next  time.Duration
	taken int
}

func (l *looks) enough(s *stage, m *measured, now time.Duration) bool {
	if s.whole() { // it ends when all have
		return false
	}
	closing := now >= l.closes(s)
	if now < s.MinTime && !closing {
		return false
	}
	if s.From > 0 {
		return true
	}
	if s.closed() {
		return closing || s.wavesSuffice(now)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	service := s.service.median()
	longest := s.longest(service)
	last := closing || now >= longest
	if now < l.next && !last {
		return false
	}
	l.taken = min(l.taken+1, maxLooks)
	if l.next = now + (longest-s.MinTime)/(maxLooks-1); last {
		l.taken = maxLooks
	}
	cut, ok := transient(m.tokens, m.tick, service)
	if !ok || float64(s.arrived)*float64(now-cut)/float64(now) < float64(s.MinRequests) {
		return last
	}
	e := &evidence{
		owed: m.owed, asked: s.ordered / float64(max(s.arrived, 1)), tokens: m.tokens, tick: m.tick, perRequest: s.emitted / float64(max(s.done, 1)),
		service: service, rate: s.Rate, tolerance: s.Tolerance, level: spent(l.taken),
	}
	m.verdict, m.drift = judge(e, wholeWaves(cut, now, service), now)
	return last || m.verdict != rundir.Undecided
}

// closes is when the window must close so that what it holds has a chance to end within the limit.
func (l *looks) closes(s *stage) time.Duration {
	const drain = 1.15
	limit := s.limit()
	if limit == math.MaxInt64 {
		return limit
	}
	return time.Duration(float64(limit) / drain)
}

// longest is how long the stage goes on while it is undecided. A server whose requests take long needs longer than was
// planned, since nothing can be told from less than a few waves.
func (s *stage) longest(service time.Duration) time.Duration {
	const waves, most = 8, 3
	return max(s.MaxTime, min(waves*service, most*s.MaxTime))
}

// wavesSuffice reports whether a closed loop has gone through enough whole waves: as many requests as slots, ended.
func (s *stage) wavesSuffice(now time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, to, n := s.ends.waves()
	if n == 0 {
		return now >= 3*s.MaxTime // the first wave outlasts everything: give up
	}
	if now >= s.MaxTime {
		return true
	}
	mean := s.latency / float64(max(s.done, 1))
	return n >= s.MinRequests && (to-from).Seconds() >= s.MinWaves*mean
}

// transient is the end of the opening transient in the rate of tokens, averaged over waves. An idle server's can only rise:
// where what would be cut is no lower than the rest, MSER has found a lull or a burst of arrivals, and to choose the window
// by those would falsify its rates.
func transient(tokens []float64, tick, service time.Duration) (cut time.Duration, ok bool) {
	const lower = 0.9
	smooth := stats.MovingMean(tokens, int(service/tick))
	n, ok := stats.MSER5(smooth)
	if n > 0 && stats.Mean(smooth[:n]) > lower*stats.Mean(smooth[n:]) {
		return 0, len(smooth) > 0
	}
	return time.Duration(n) * tick, ok
}

// evidence is what a verdict rests on.
type evidence struct {
	owed       []float64 // output tokens asked for and not arrived, at the end of each tick: the backlog
	asked      float64   // output tokens asked for by a request, on average
	tokens     []float64 // output tokens that arrived in each tick
	tick       time.Duration
	perRequest float64       // output tokens of a request, counted in the same way
	service    time.Duration // how long a request is being served
	rate       float64       // asked, per second
	tolerance  float64       // drift below this share of rate is none
	level      float64       // error allowed on either side
}

// judge says whether the asked rate is sustained, from what was seen between two instants. It is stable when the drift's
// upper bound is below the tolerance, which is more than not having found any. It is saturated when the drift's lower
// bound is above zero, the growth does not level off, and the server gets less done than is asked for: a queue that
// grows while the server keeps up with the rate is a burst of arrivals.
func judge(e *evidence, from, to time.Duration) (string, rundir.Drift) {
	n := waveBatches(to-from, e.service, mostBatches)
	if n < fewestWaves || to <= from {
		return rundir.Undecided, rundir.Drift{}
	}
	batches, ok := stats.Batches(e.owed[min(int(from/e.tick), len(e.owed)):min(int(to/e.tick), len(e.owed))], n)
	if !ok || e.asked <= 0 {
		return rundir.Undecided, rundir.Drift{}
	}
	trend, low, high := slope(batches, e.level)
	scale := float64(n) / (to - from).Seconds() / e.asked / e.rate
	drift := rundir.Drift{
		Value: rundir.Exactly(trend * scale),
		Low:   rundir.Exactly(low * scale),
		High:  rundir.Exactly(high * scale),
	}
	switch {
	case high*scale < e.tolerance:
		return rundir.Stable, drift
	case low > 0 && growsOn(batches, trend) && e.fallsBehind(from, to):
		return rundir.Saturated, drift
	}
	return rundir.Undecided, drift
}

// fallsBehind reports whether the server gets less done than the asked rate, beyond doubt.
func (e *evidence) fallsBehind(from, to time.Duration) bool {
	if e.perRequest <= 0 {
		return true // no tokens to go by: the growth alone must do
	}
	ticks := e.tokens[min(int(from/e.tick), len(e.tokens)):min(int(to/e.tick), len(e.tokens))]
	_, _, high, ok := stats.BatchMeans(ticks, waveBatches(to-from, e.service, progressBatches))
	return ok && high/e.tick.Seconds()/e.perRequest < e.rate
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
