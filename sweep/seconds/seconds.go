// Package seconds converts numbers of seconds, as files and formulas have them, to durations.
package seconds

import (
	"math"
	"time"
)

// Duration returns s seconds, rounded to the nanosecond, and the longest duration there is where s is longer.
func Duration(s float64) time.Duration {
	if s >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(math.Round(s * float64(time.Second)))
}
