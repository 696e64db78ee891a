// Package span computes with numbers that were printed with few digits: each is an interval.
package span

import (
	"math"
)

// Of is a number with how far it may be from what was measured, because it was rounded.
type Of struct{ V, Low, High float64 }

// Exact is a span without width.
func Exact(v float64) Of { return Of{v, v, v} }

func (a Of) Plus(b Of) Of { return Of{a.V + b.V, a.Low + b.Low, a.High + b.High} }

func (a Of) Times(b Of) Of { return Of{a.V * b.V, a.Low * b.Low, a.High * b.High} }

// Over divides; what may be 0 divides to anything.
func (a Of) Over(b Of) Of {
	if b.Low <= 0 {
		return Of{a.V / b.V, 0, math.Inf(1)}
	}
	return Of{a.V / b.V, a.Low / b.High, a.High / b.Low}
}

// Beyond says by what fraction a lies above (positive) or below all that b may be.
func (a Of) Beyond(b Of) float64 {
	switch {
	case a.Low > b.High && b.High > 0:
		return a.Low/b.High - 1
	case a.High < b.Low && b.Low > 0:
		return a.High/b.Low - 1
	}
	return 0
}
