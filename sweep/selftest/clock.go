package selftest

import (
	"math"
	"time"
)

// PacedClock converts instants of this process to nanoseconds of the system's monotonic clock, which all processes on the machine
// share. Go's own monotonic readings count from the start of each process.
type PacedClock struct {
	at    time.Time
	nanos int64 // of the system's clock at that instant
}

// clockTries is how many times the two clocks are compared: enough for one comparison that no other thread interrupts.
const clockTries = 32

// NewPacedClock returns a clock. It reads the system's clock between two readings of Go's, several times, and keeps the pair that
// lies closest together.
func NewPacedClock() PacedClock {
	c, closest := PacedClock{}, time.Duration(math.MaxInt64)
	for range clockTries {
		before := time.Now()
		nanos := monotonic()
		if d := time.Since(before); d < closest {
			c, closest = PacedClock{before.Add(d / 2), nanos}, d
		}
	}
	return c
}

// Of returns the reading of the system's clock at an instant.
func (c PacedClock) Of(t time.Time) int64 { return c.nanos + int64(t.Sub(c.at)) }

// Time returns the instant of a reading.
func (c PacedClock) Time(nanos int64) time.Time { return c.at.Add(time.Duration(nanos - c.nanos)) }

// Now returns the present reading.
func (c PacedClock) Now() int64 { return c.Of(time.Now()) }
