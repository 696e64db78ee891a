package measure

import (
	"math"
	"slices"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

type looks struct {
	at    []time.Duration // when they are due, ascending
	next  time.Duration   // when the next one is due
	spent float64         // part of errorLevel that the looks so far may have made
}

// spend returns the part of the error that a look after a share of the time may make.
func (l *looks) spend(share float64) float64 {
	before := l.spent
	l.spent = max(before, errorLevel*math.Pow(min(share, 1), 2))
	return l.spent - before
}

// Marks returns the instants by which the arrivals of an open loop have their exact number, ascending: the looks, and
// two at which a window may begin. It returns nil for a closed loop, and where the arrivals end by themselves.
func (c *Criteria) Marks() []time.Duration {
	switch {
	case c.closed():
		return nil
	case c.Sessions > 0:
		return []time.Duration{rundir.Duration(float64(c.Sessions) / c.Rate)}
	case c.Whole:
		return nil
	case c.Fixed:
		return []time.Duration{c.From, c.MinTime}
	}
	marks := append([]time.Duration{c.MinTime / 4, c.MinTime / 2}, c.looksAt()...)
	if c.From > 0 {
		marks = append(marks, c.From)
		slices.Sort(marks)
	}
	return slices.Compact(marks)
}

// looksPerOctave counts the looks at an open loop while its time doubles.
const looksPerOctave = 2

// looksAt returns the least time, the most, and instants in between so that each look has half as much again to see.
func (c *Criteria) looksAt() (at []time.Duration) {
	tick := c.Tick()
	ratio := max(1, float64(c.MaxTime)/float64(c.MinTime))
	steps := math.Round(looksPerOctave * math.Log2(ratio))
	for k := 0.0; k <= steps; k++ {
		look := time.Duration(math.Ceil(float64(c.MinTime)*math.Pow(ratio, k/max(1, steps))/float64(tick))) * tick
		if len(at) == 0 || look > at[len(at)-1] {
			at = append(at, look)
		}
	}
	return at
}

// Decide returns whether the stage has gone on for long enough.
func (a *Account) Decide(now time.Duration) load.Decision {
	a.mu.Lock()
	defer a.mu.Unlock()
	refusesAll := a.done == 0 && a.shed > 0 && a.shed == a.ended
	switch {
	case a.hopeless(), refusesAll && !a.Whole && now >= max(a.MinTime, a.Hold):
		a.earlyEnd = noteEndedEarly.New(a.failed, a.ended)
		return load.Stop
	case a.Whole && a.silentTooLong(now):
		last, longest := silence(&a.ticks, now)
		var unsent any
		if n := a.unsent(); n > 0 {
			unsent = n
		}
		a.earlyEnd = noteGaveUp.New(last.Seconds(), longest.Seconds(), unsent)
		return load.Stop
	case a.enough(now):
		if a.Hold > 0 && a.verdict == rundir.Saturated { // its requests wait longer and longer: nobody waits for them
			return load.Stop
		}
		return load.Close
	}
	return load.Continue
}

func (a *Account) hopeless() bool {
	ended := a.done + a.failed
	if a.MaxErrorRate >= 1 || ended < fewestEnded || a.Sessions > 0 && a.unsent() == 0 {
		return false
	}
	failed := a.failed - a.shed // these are an answer to too much load
	return failed >= fewestEnded/2 && float64(failed) > a.MaxErrorRate*float64(a.done+failed)
}

// unsent is 0 where the time decides.
func (a *Account) unsent() int { return max(0, a.Sessions-a.due) }

func (a *Account) enough(now time.Duration) bool {
	if a.Whole { // it ends when all requests have
		return false
	}
	closing := now >= a.latestClose()
	switch {
	case now < a.MinTime && !closing:
		return false
	case a.Fixed:
		return true
	case a.Paced:
		return closing || now >= a.MaxTime && a.done > 0 || now >= giveUpFactor*a.MaxTime || a.paced(now)
	case a.Steady:
		return closing || a.steadyEnough(now)
	case a.closed():
		return closing || a.wavesSuffice(now)
	}
	return a.look(now, closing)
}

// latestClose returns when the window must close, so that its requests can end by the time-out.
func (a *Account) latestClose() time.Duration {
	if a.TimeOut == 0 {
		return math.MaxInt64
	}
	return time.Duration(float64(a.TimeOut) / drainFactor)
}

// look reports whether it was the last: a rate that is not sustained is given up as soon as that is shown, and one that
// is sustained is held for the whole time.
func (a *Account) look(now time.Duration, closing bool) bool {
	longest := a.lastLook()
	last := closing || now >= longest
	if now < a.looks.next && !last {
		return false
	}
	i, found := slices.BinarySearch(a.looks.at, now)
	if found {
		i++
	}
	a.looks.next = longest
	if i < len(a.looks.at) {
		a.looks.next = a.looks.at[i]
	}
	level := a.looks.spend(float64(now) / float64(longest))
	if last {
		level += a.looks.spend(1)
	}
	service := a.service.median() // under this load
	cut, ok := a.opening(now, service)
	if !ok || float64(a.due)*float64(now-cut)/float64(now) < float64(a.MinRequests) {
		return last
	}
	a.judge(a.openWindow(cut, now, service), level)
	p := a.pauses.summary(now, a.minPause())
	unclear := p.Count > 0 && len(a.pauses.ends) < fewestPauses // the time shows less of the server's speed than of pauses
	a.hiddenByPauses = unclear && now.Seconds() < fewestPauses*p.Longest.Value()
	if unclear && (a.hiddenByPauses || !last) {
		a.verdict = rundir.Undecided
	}
	f := failedShare{failed: a.failed, refused: a.shed, ended: a.done + a.failed, tolerance: a.Tolerance}
	saturated := a.verdict == rundir.Saturated
	if saturated && a.Hold > 0 && a.Wave == 0 && !last {
		// What grows slowly, or for a short time, may be a server that fills up, pauses, restarts or is about to scale.
		growth := max(a.backlog.Value.Or(0), a.waits.Value.Or(0))
		saturated = growth > fastGrowth || growth > slowGrowth && float64(now) >= lateShare*float64(a.Hold)
	}
	if a.Precision > 0 {
		return last || saturated || a.means.within(a.Precision)
	}
	return last || saturated || f.judge(a.verdict) != rundir.Undecided && now >= a.Hold
}

// lastLook lets a server that pauses in a rhythm go through some waves.
func (a *Account) lastLook() time.Duration {
	last := a.looks.at[len(a.looks.at)-1]
	if a.Hold == 0 {
		return last
	}
	return max(last, min(pausesPerHold*a.waveTime(), longestHold*last))
}

// closesAt returns when the window closes at the latest; 0 where it is not left open.
func (a *Account) closesAt() (until time.Duration) {
	switch {
	case a.Whole || a.Fixed || a.closedAt >= 0:
		return 0
	case a.closed():
		until = a.MaxTime
		if _, _, n := a.waves.Whole(math.MaxInt64); n == 0 {
			until = giveUpFactor * a.MaxTime
		}
	default:
		until = a.lastLook()
	}
	return min(until, max(a.latestClose(), a.MinTime))
}

func (a *Account) wavesSuffice(now time.Duration) bool {
	from, to, n := a.waves.Whole(math.MaxInt64)
	switch {
	case n == 0 || float64(n) < a.MinWaves*float64(a.Concurrency) && now < giveUpFactor*a.MaxTime:
		return now >= giveUpFactor*a.MaxTime
	case now >= a.MaxTime:
		return true
	}
	mean := a.doneLatency / float64(max(a.done, 1))
	return n >= a.MinRequests && (to-from).Seconds() >= a.MinWaves*mean
}
