package selftest

import (
	"math"
	"time"
)

// pacedClock converts instants of this process to nanoseconds of the system's monotonic clock, which all processes on
// the machine share. Go's own monotonic readings count from the start of each process.
type pacedClock struct {
	at    time.Time
	nanos int64 // of the system's clock at that instant
}

// clockTries is enough for one comparison of the two clocks that no other thread interrupts.
const clockTries = 32

// newPacedClock reads the system's clock between two readings of Go's, several times, and keeps the pair that lies
// closest together.
func newPacedClock() pacedClock {
	c, closest := pacedClock{}, time.Duration(math.MaxInt64)
	for range clockTries {
		before := time.Now()
		nanos := monotonic()
		if d := time.Since(before); d < closest {
			c, closest = pacedClock{before.Add(d / 2), nanos}, d
		}
	}
	return c
}

// At returns the reading of the system's clock at an instant.
func (c pacedClock) At(t time.Time) int64 { return c.nanos + int64(t.Sub(c.at)) }

// Now returns the present reading.
func (c pacedClock) Now() int64 { return c.At(time.Now()) }
