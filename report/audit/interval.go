// Computes with rounded numbers as intervals.

package audit

import "math"

// interval is a rounded number with the interval of the numbers that round to it.
type interval struct{ V, Low, High float64 }

// exactInterval is an interval without width.
func exactInterval(v float64) interval { return interval{v, v, v} }

// Add returns the sum.
func (a interval) Add(b interval) interval {
	return interval{a.V + b.V, a.Low + b.Low, a.High + b.High}
}

// Multiply returns the product.
func (a interval) Multiply(b interval) interval {
	return interval{a.V * b.V, a.Low * b.Low, a.High * b.High}
}

// Divide returns the quotient. It is unbounded where the divisor may be 0.
func (a interval) Divide(b interval) interval {
	if b.Low <= 0 {
		return interval{a.V / b.V, 0, math.Inf(1)}
	}
	return interval{a.V / b.V, a.Low / b.High, a.High / b.Low}
}

// Excess returns the fraction by which a lies above (positive) or below (negative) the interval of b.
func (a interval) Excess(b interval) float64 {
	switch {
	case a.Low > b.High && b.High > 0:
		return a.Low/b.High - 1
	case a.High < b.Low && b.Low > 0:
		return a.High/b.Low - 1
	}
	return 0
}
