package measure

import (
	"math"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// A stage is looked at this often at most. The error that is allowed is spent over the looks, so that looking again does not turn
// chance into a finding: as the square of the time gone, most of it on the last look, which has the most evidence (Kim and
// DeMets, Biometrika 74 (1987)). The errors of the looks are added up (Boole), as if no two ever coincided.
const (
	maxLooks   = 7
	errorLevel = 0.05
)

// spent returns the part of the error that the k-th look may make, k from 1 to maxLooks.
func spent(k int) float64 {
	share := func(k int) float64 { return math.Pow(float64(min(k, maxLooks))/maxLooks, 2) }
	return errorLevel * (share(k) - share(k-1))
}

// looks is the state of the looks at a stage.
type looks struct {
	next  time.Duration
	taken int
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
	const fewest = 20 // requests that have ended: fewer say little of a share
	ended := a.done + a.failed
	if a.MaxErrorRate >= 1 || ended < fewest || a.Sessions > 0 && a.unsent() == 0 {
		return false
	}
	failed := a.failed - a.shed // these are an answer to too much load
	return failed >= fewest/2 && float64(failed) > a.MaxErrorRate*float64(a.done+failed)
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
	const withDrain = 1.15 // of the window's time; checked by TestBudgetsAreKept
	if a.TimeOut == 0 {
		return math.MaxInt64
	}
	return time.Duration(float64(a.TimeOut) / withDrain)
}

// look judges an open loop. It reports whether that was the last look.
func (a *Account) look(now time.Duration, closing bool) bool {
	service := a.service.recent.median()
	longest := a.longest(service)
	last := closing || now >= longest
	if now < a.looks.next && !last {
		return false
	}
	a.looks.taken = min(a.looks.taken+1, maxLooks)
	if a.looks.next = now + (longest-a.MinTime)/(maxLooks-1); last {
		a.looks.taken = maxLooks
	}
	cut, ok := transient(a.ticks.Sums, a.ticks.Width, service)
	if !ok || float64(a.due)*float64(now-cut)/float64(now) < float64(a.MinRequests) {
		return last
	}
	a.verdict, a.drift = a.evidence(service, spent(a.looks.taken)).Judge(Window{From: wholeWaves(cut, now, service), To: now})
	a.verdict = Undone{Failed: a.failed, Refused: a.shed, Ended: a.done + a.failed, Tolerance: a.Tolerance}.Judge(a.verdict)
	if a.Lasting {
		return last || a.verdict == rundir.Saturated
	}
	return last || a.verdict != rundir.Undecided
}

// longest returns how long the stage goes on while it is undecided. A server whose requests take long needs longer than was
// planned, since nothing can be told from fewer than a few waves.
func (a *Account) longest(service time.Duration) time.Duration {
	const waves, timesPlanned = 8, 3
	return max(a.MaxTime, min(waves*service, timesPlanned*a.MaxTime))
}

// open returns when the window closes at the latest, and what it stays open for from MinTime on; 0 and nothing where neither is left open.
func (a *Account) open() (until time.Duration, what load.Awaits) {
	switch {
	case a.Whole || a.From > 0 || a.closedAt >= 0:
		return 0, ""
	case a.closed():
		until, what = a.MaxTime, load.AwaitsWaves
		if _, _, n := a.waves.Whole(); n == 0 {
			until = giveUp * a.MaxTime
		}
	case a.Lasting:
		until, what = a.longest(a.service.recent.median()), load.AwaitsHold
	default:
		until, what = a.longest(a.service.recent.median()), load.AwaitsVerdict
		if a.due < a.MinRequests {
			what = load.AwaitsRequests
		}
	}
	return min(until, max(a.latestClose(), a.MinTime)), what
}

// giveUp is how many times MaxTime a closed loop may take whose first wave outlasts everything.
const giveUp = 3

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
