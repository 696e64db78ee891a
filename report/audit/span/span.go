// Package span computes with rounded numbers as intervals.
package span

import (
	"math"
)

// Of is a rounded number with the interval of the numbers that round to it.
type Of struct{ V, Low, High float64 }

// Exact is a span without width.
func Exact(v float64) Of { return Of{v, v, v} }

func (a Of) Plus(b Of) Of { return Of{a.V + b.V, a.Low + b.Low, a.High + b.High} }

func (a Of) Times(b Of) Of { return Of{a.V * b.V, a.Low * b.Low, a.High * b.High} }

// Over returns the quotient. It is unbounded where the divisor may be 0.
func (a Of) Over(b Of) Of {
	if b.Low <= 0 {
		return Of{a.V / b.V, 0, math.Inf(1)}
	}
	return Of{a.V / b.V, a.Low / b.High, a.High / b.Low}
}

// Beyond returns the fraction by which a lies above (positive) or below (negative) the interval of b.
func (a Of) Beyond(b Of) float64 {
	switch {
	case a.Low > b.High && b.High > 0:
		return a.Low/b.High - 1
	case a.High < b.Low && b.Low > 0:
		return a.High/b.Low - 1
	}
	return 0
}
