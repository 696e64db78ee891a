package arrival

import (
	"time"

	"llmsweep/sweep/stats"
)

// Sessions is an open loop whose requests are the turns of sessions. Its rate counts turns: sessions begin at that rate
// divided by the turns of one, so that turns come due at the rate of the load once as many sessions are on as stay.
type Sessions struct {
	Load                 // of turns
	Turns  float64       // mean number in a session, above 1
	Joined int           // sessions that have begun before the stage
	Within time.Duration // the first requests of these are due at random within this time
}

// NewSessions returns a load whose requests are the turns of sessions. With joined, sessions are on when the stage
// begins: those that are thinking then, for a mean pause between turns.
func NewSessions(l Load, turns float64, pause time.Duration, joined bool) Load {
	if _, replay := l.(Trace); turns <= 1 || l.MeanRate() == 0 || replay {
		return l
	}
	s := Sessions{Load: l, Turns: turns}
	if joined && !l.Ends() {
		s.Joined, s.Within = int(l.MeanRate()*pause.Seconds()), pause
	}
	return s
}

// Schedule returns when sessions begin, those that have begun before among them.
func (s Sessions) Schedule(runSeed uint64, stage string) Schedule {
	begin := &sparse{Schedule: s.Load.Schedule(runSeed, stage), share: 1 / s.Turns, ends: s.Ends(),
		draw: stats.Rand(runSeed, "sessions", stage).Float64}
	return &merged{instants: Opening(s.Joined, s.Within, runSeed, stage), Schedule: begin}
}

// sparse has fewer arrivals than a schedule: it is stretched in time, or where it ends, arrivals are left out at
// random.
type sparse struct {
	Schedule
	share float64 // share of arrivals
	ends  bool
	draw  func() float64
}

func (s *sparse) Next() (time.Duration, bool) {
	for {
		due, ok := s.Schedule.Next()
		switch {
		case !ok:
			return due, false
		case !s.ends:
			return time.Duration(float64(due) / s.share), true
		case s.draw() < s.share:
			return due, true
		}
	}
}

type merged struct {
	instants []time.Duration // ascending
	Schedule
	next  time.Duration
	drawn bool // next is due
	ended bool
}

func (m *merged) Next() (time.Duration, bool) {
	if !m.drawn && !m.ended {
		var ok bool
		m.next, ok = m.Schedule.Next()
		m.drawn, m.ended = ok, !ok
	}
	if len(m.instants) > 0 && (m.ended || m.instants[0] <= m.next) {
		due := m.instants[0]
		m.instants = m.instants[1:]
		return due, true
	}
	m.drawn = false
	return m.next, !m.ended
}
