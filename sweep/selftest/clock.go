package selftest

import (
	"fmt"
	"math"
	"os"
	"time"

	"llmsweep/sweep/rundir"
)

// clock tells instants in nanoseconds of the system's monotonic clock, which all processes share. Go's own monotonic
// readings are of that clock and count from a start of the process's own.
type clock struct {
	at    time.Time
	nanos int64 // the system's clock then
}

// newClock compares the two: of several readings, the one that fits most closely between two of the other.
func newClock() clock {
	const tries = 32
	c, closest := clock{}, time.Duration(math.MaxInt64)
	for range tries {
		before := time.Now()
		nanos := monotonic()
		if d := time.Since(before); d < closest {
			c, closest = clock{before.Add(d / 2), nanos}, d
		}
	}
	return c
}

func (c clock) of(t time.Time) int64 { return c.nanos + int64(t.Sub(c.at)) }

func (c clock) now() int64 { return c.of(time.Now()) }

// resident is the memory that this process occupies, in bytes; absent where the system does not say.
func resident() rundir.Number {
	b, _ := os.ReadFile("/proc/self/statm")
	var size, pages int
	if n, _ := fmt.Sscan(string(b), &size, &pages); n < 2 {
		return rundir.Number{}
	}
	return rundir.Exactly(float64(pages * os.Getpagesize()))
}

// loadAverage is how many processes wanted a core in the last minute; absent where the system does not say.
func loadAverage() rundir.Number {
	b, _ := os.ReadFile("/proc/loadavg")
	var load float64
	if n, _ := fmt.Sscan(string(b), &load); n < 1 {
		return rundir.Number{}
	}
	return rundir.Exactly(load)
}
