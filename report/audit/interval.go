package audit

import "math"

// interval is a rounded number with the interval of the numbers that round to it.
type interval struct{ V, Low, High float64 }

func exactInterval(v float64) interval { return interval{v, v, v} }

func (a interval) add(b interval) interval {
	return interval{a.V + b.V, a.Low + b.Low, a.High + b.High}
}

func (a interval) multiply(b interval) interval {
	return interval{a.V * b.V, a.Low * b.Low, a.High * b.High}
}

// divide returns the quotient, which is unbounded where the divisor may be 0.
func (a interval) divide(b interval) interval {
	if b.Low <= 0 {
		return interval{a.V / b.V, 0, math.Inf(1)}
	}
	return interval{a.V / b.V, a.Low / b.High, a.High / b.Low}
}

// excess returns the fraction by which a lies above (positive) or below (negative) the interval of b.
func (a interval) excess(b interval) float64 {
	switch {
	case a.Low > b.High && b.High > 0:
		return a.Low/b.High - 1
	case a.High < b.Low && b.Low > 0:
		return a.High/b.Low - 1
	}
	return 0
}
