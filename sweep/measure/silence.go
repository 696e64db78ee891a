package measure

import (
	"cmp"
	"slices"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
)

// lifeSigns are the latest signs of life of a server, from the records of requests. Instants are in seconds from the
// stage's start.
type lifeSigns struct {
	token   float64 // the latest token; 0 before the first
	latest  float64 // the latest token, header or answer
	hanging float64 // until when requests without an answer were waited for; 0 where there is none
	since   float64 // when the first request without an answer was sent
	sends   []send  // of the latest requests to end
	ended   int     // number of requests that have ended
}

type send struct {
	at   float64
	hung bool
}

// maxSends bounds the memory of a count to 64 KiB.
const maxSends = 1 << 12

func (s *lifeSigns) addSend(r *rundir.Record) {
	if !r.Sent.Known() {
		return
	}
	one := send{r.Sent.Value(), r.Censored()}
	if s.ended++; len(s.sends) < maxSends {
		s.sends = append(s.sends, one)
	} else {
		s.sends[s.ended%maxSends] = one
	}
}

// hungLast reports whether of the requests that were sent last, at least a number of them, more hung than were
// answered. One that hangs while others sent after it are answered shows nothing of the server.
func (s *lifeSigns) hungLast(least int) bool {
	sends := slices.SortedFunc(slices.Values(s.sends), func(a, b send) int { return cmp.Compare(b.at, a.at) })
	hung := 0
	for i, one := range sends {
		if one.hung {
			hung++
		}
		if hung >= least && 2*hung > i+1 {
			return true
		}
	}
	return false
}

func (s *lifeSigns) add(r *rundir.Record) {
	s.addSend(r)
	for _, at := range []rundir.Number{r.Headers, r.FirstToken, r.LastToken} {
		if at.Known() {
			s.latest = max(s.latest, at.Value())
		}
	}
	if r.LastToken.Known() {
		s.token = max(s.token, r.LastToken.Value())
	}
	switch {
	case !r.Censored():
		s.latest = max(s.latest, r.End.Value())
	case r.Sent.Known():
		if s.hanging == 0 || r.Sent.Value() < s.since {
			s.since = r.Sent.Value()
		}
		s.hanging = max(s.hanging, r.End.Value())
	}
}

// silence returns how long the server had been silent at an instant, and the longest silence that had ended before, to
// the tick.
func silence(t *sample.Ticks, at time.Duration) (last, longest time.Duration) {
	run := 0
	for i := range t.Count(at) {
		switch {
		case t.Sums[i] > 0:
			longest = max(longest, time.Duration(run)*t.Width)
			run = 0
		case t.Ends[i] > 0: // tokens are owed
			run++
		}
	}
	return time.Duration(run) * t.Width, longest
}

func (a *Account) silentTooLong(now time.Duration) bool {
	last, longest := silence(&a.ticks, now)
	return a.lifeSigns.token > 0 && last >= max(giveUpFrom*(longest+a.ticks.Width), leastGiveUp)
}

// silentAtClose reports whether the server was unusually silent when the window closed. A window that ended with the
// last answers would leave the silence out.
func (s *summary) silentAtClose() bool {
	last, longest := silence(&s.ticks, s.seen.ClosedAt)
	return s.lifeSigns.token > 0 && last >= max(prolongFrom*(longest+s.ticks.Width), leastProlong)
}

// frozenSince returns the last sign of life of a server that stopped answering for good: no request in flight had an
// answer for unusually long. ok is false where it did not stop or never answered, and where only requests hung that
// were sent among others that were answered.
func (s *summary) frozenSince() (at float64, ok bool) {
	g := &s.lifeSigns
	if g.token == 0 || g.hanging <= g.latest {
		return 0, false
	}
	_, longest := silence(&s.ticks, rundir.Duration(g.token)+s.ticks.Width)
	least := 2 // one request that hangs may do so by itself
	if s.Concurrency == 1 && !s.Whole {
		least = 1 // the loop stood still because of it
	}
	if !g.hungLast(least) {
		return 0, false
	}
	waited := rundir.Duration(g.hanging - max(g.latest, g.since))
	return g.latest, waited >= max(frozenFrom*(longest+s.ticks.Width), leastFrozen)
}
