// Computes with rounded numbers as intervals.

package audit

import (
	"math"
)

// intervalOf is a rounded number with the interval of the numbers that round to it.
type intervalOf struct{ V, Low, High float64 }

// exactInterval is a span without width.
func exactInterval(v float64) intervalOf { return intervalOf{v, v, v} }

func (a intervalOf) Plus(b intervalOf) intervalOf {
	return intervalOf{a.V + b.V, a.Low + b.Low, a.High + b.High}
}

func (a intervalOf) Times(b intervalOf) intervalOf {
	return intervalOf{a.V * b.V, a.Low * b.Low, a.High * b.High}
}

// Over returns the quotient. It is unbounded where the divisor may be 0.
func (a intervalOf) Over(b intervalOf) intervalOf {
	if b.Low <= 0 {
		return intervalOf{a.V / b.V, 0, math.Inf(1)}
	}
	return intervalOf{a.V / b.V, a.Low / b.High, a.High / b.Low}
}

// Beyond returns the fraction by which a lies above (positive) or below (negative) the interval of b.
func (a intervalOf) Beyond(b intervalOf) float64 {
	switch {
	case a.Low > b.High && b.High > 0:
		return a.Low/b.High - 1
	case a.High < b.Low && b.Low > 0:
		return a.High/b.Low - 1
	}
	return 0
}
