package cluster

import (
	"slices"
	"time"
)

// clock relates the clock of another rank to that of rank 0, by pings that the rank answers with its own time. The one
// that came back soonest is off by half of its round trip at most (F. Cristian, 1989).
// Only recent ones count: the clocks of two machines drift apart by some microseconds each second.
type clock struct{ recent []reading }

type reading struct {
	roundTrip time.Duration
	ahead     time.Duration // of the other clock
}

// add adds a ping that was sent and came back at instants of this clock, and was answered at one of the other.
func (c *clock) add(sent, answered, back time.Duration) {
	const recently = 8
	c.recent = append(c.recent, reading{back - sent, answered - (sent+back)/2})
	c.recent = c.recent[max(0, len(c.recent)-recently):]
}

// best returns the most exact reading; the zero reading before the first ping has come back.
func (c *clock) best() reading {
	if len(c.recent) == 0 {
		return reading{}
	}
	return slices.MinFunc(c.recent, func(a, b reading) int { return int(a.roundTrip - b.roundTrip) })
}
