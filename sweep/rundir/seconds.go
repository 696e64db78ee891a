package rundir

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

// RoundUp returns a time in seconds that is easy to type, at or above s: 5, 10, 15, ... s, and whole minutes from two.
func RoundUp(s float64) time.Duration {
	step := 5.0
	if s > 120 {
		step = 60
	}
	return Duration(step * math.Ceil(s/step))
}
