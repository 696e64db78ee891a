package measure

import (
	"math"
	"slices"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// looks is the state of the looks at a stage.
type looks struct {
	at    []time.Duration // when they are due, ascending; of an open loop
	next  time.Duration
	spent float64 // part of errorLevel
}

// spend returns the part of the error that a look after a share of the time may make.
func (l *looks) spend(share float64) float64 {
	before := l.spent
	l.spent = max(before, errorLevel*math.Pow(min(share, 1), 2))
	return l.spent - before
}

// Marks returns the instants by which the arrivals of an open loop have their exact number, ascending: the looks, and two at which
// a window may begin. It returns nil for a closed loop, and where the arrivals end by themselves.
func (c *Criteria) Marks() []time.Duration {
	switch {
	case c.closed():
		return nil
	case c.Sessions > 0:
		return []time.Duration{rundir.Duration(float64(c.Sessions) / c.Rate)}
	case c.Whole:
		return nil
	case c.From > 0:
		return []time.Duration{c.From, c.MinTime}
	}
	return append([]time.Duration{c.MinTime / 4, c.MinTime / 2}, c.looksAt()...)
}

// looksAt returns when an open loop is looked at: at its least time, its most, and in between so that each look has half as much again to
// see. After its most time it is looked at where requests take longer than was planned.
func (c *Criteria) looksAt() (at []time.Duration) {
	const perOctave = 2
	tick := c.Tick()
	add := func(t float64) {
		if d := (time.Duration(math.Round(t)) + tick - 1) / tick; len(at) == 0 || d*tick > at[len(at)-1] {
			at = append(at, d*tick)
		}
	}
	ratio := max(1, float64(c.MaxTime)/float64(c.MinTime))
	steps := max(1, math.Round(perOctave*math.Log2(ratio)))
	for k := 0.0; k <= steps; k++ {
		add(float64(c.MinTime) * math.Pow(ratio, k/steps))
	}
	for t := ratio * float64(c.MinTime); at[len(at)-1] < timesPlanned*c.MaxTime; {
		t *= math.Pow(2, 1.0/perOctave)
		add(t)
	}
	return at
}

// lastLook returns when an open loop is looked at for the last time.
func (a *Account) lastLook(service time.Duration) time.Duration {
	i, _ := slices.BinarySearch(a.looks.at, a.longest(service))
	return a.looks.at[min(i, len(a.looks.at)-1)]
}

// Decide returns whether the stage has gone on for long enough.
func (a *Account) Decide(now time.Duration) load.Decision {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.hopeless():
		a.early = noteEndedEarly.New(a.failed, a.ended)
		return load.Stop
	case !a.Whole && now >= a.MinTime && a.done == 0 && a.shed > 0 && a.shed == a.ended: // it refuses everything
		a.early = noteEndedEarly.New(a.failed, a.ended)
		return load.Stop
	case a.Whole && a.silentTooLong(now):
		last, longest := silence(&a.ticks, now)
		var unsent any
		if n := a.unsent(); n > 0 {
			unsent = n
		}
		a.early = noteGaveUp.New(last.Seconds(), longest.Seconds(), unsent)
		return load.Stop
	case a.enough(now):
		return load.Close
	}
	return load.Continue
}

// hopeless reports whether errors dominate.
func (a *Account) hopeless() bool {
	ended := a.done + a.failed
	if a.MaxErrorRate >= 1 || ended < fewestEnded || a.Sessions > 0 && a.unsent() == 0 {
		return false
	}
	failed := a.failed - a.shed // these are an answer to too much load
	return failed >= fewestEnded/2 && float64(failed) > a.MaxErrorRate*float64(a.done+failed)
}

// unsent returns how many of the sessions that were asked for have not begun, at least; 0 where the time decides.
func (a *Account) unsent() int { return max(0, a.Sessions-a.due) }

func (a *Account) enough(now time.Duration) bool {
	if a.Whole { // it ends when all requests have
		return false
	}
	closing := now >= a.latestClose()
	switch {
	case now < a.MinTime && !closing:
		return false
	case a.From > 0:
		return true
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
	return time.Duration(float64(a.TimeOut) / withDrain)
}

// look judges an open loop. It reports whether that was the last look.
func (a *Account) look(now time.Duration, closing bool) bool {
	service := a.service.recent.median()
	longest := a.lastLook(service)
	last := closing || now >= longest
	if now < a.looks.next && !last {
		return false
	}
	i, found := slices.BinarySearch(a.looks.at, now)
	if found {
		i++
	}
	a.looks.next = a.looks.at[min(i, len(a.looks.at)-1)]
	level := a.looks.spend(float64(now) / float64(longest))
	if last {
		level += a.looks.spend(1)
	}
	cut, ok := transient(a.ticks.Sums, a.ticks.Width, service)
	if !ok || float64(a.due)*float64(now-cut)/float64(now) < float64(a.MinRequests) {
		return last
	}
	a.verdict, a.drift = a.evidence(service, level).Judge(a.openWindow(cut, now, service))
	a.verdict = Undone{Failed: a.failed, Refused: a.shed, Ended: a.done + a.failed, Tolerance: a.Tolerance}.Judge(a.verdict)
	if a.paused(now) && !(a.Lasting && last) {
		a.verdict = rundir.Undecided
	}
	if a.Lasting {
		return last || a.verdict == rundir.Saturated
	}
	return last || a.verdict != rundir.Undecided
}

// paused reports whether the server paused for so long that the time measured shows less of its speed than of the pause: one whose quota for the minute is
// used up completes nothing until the next begins, and is fast at first then. A backlog that grows meanwhile is not yet a sign of too much load, nor one that shrinks
// afterwards of a rate that is sustained.
func (a *Account) paused(now time.Duration) bool {
	last, longest := silence(&a.ticks, now)
	pause := max(last, longest)
	return pause >= leastPause && now < pausesSeen*pause
}

// longest returns how long the stage goes on while it is undecided. A server whose requests take long needs longer than was
// planned, since nothing can be told from fewer than a few waves.
func (a *Account) longest(service time.Duration) time.Duration {
	return max(a.MaxTime, min(longestWaves*service, timesPlanned*a.MaxTime))
}

// closesAt returns when the window closes at the latest; 0 where it is not left open.
func (a *Account) closesAt() (until time.Duration) {
	switch {
	case a.Whole || a.From > 0 || a.closedAt >= 0:
		return 0
	case a.closed():
		until = a.MaxTime
		if _, _, n := a.waves.Whole(); n == 0 {
			until = giveUp * a.MaxTime
		}
	default:
		until = a.lastLook(a.service.recent.median())
	}
	return min(until, max(a.latestClose(), a.MinTime))
}

// wavesSuffice reports whether a closed loop has gone through enough whole waves.
func (a *Account) wavesSuffice(now time.Duration) bool {
	from, to, n := a.waves.Whole()
	switch {
	case n == 0:
		return now >= giveUp*a.MaxTime
	case now >= a.MaxTime:
		return true
	}
	mean := a.latency / float64(max(a.done, 1))
	return n >= a.MinRequests && (to-from).Seconds() >= a.MinWaves*mean
}
