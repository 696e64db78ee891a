package audit

import (
	"math"
)

// span is a number with how far it may be from what was measured, because it was rounded.
type span struct{ v, low, high float64 }

// exact is a span without width.
func exact(v float64) span { return span{v, v, v} }

func (a span) plus(b span) span { return span{a.v + b.v, a.low + b.low, a.high + b.high} }

func (a span) times(b span) span { return span{a.v * b.v, a.low * b.low, a.high * b.high} }

// over divides; what may be 0 divides to anything.
func (a span) over(b span) span {
	if b.low <= 0 {
		return span{a.v / b.v, 0, math.Inf(1)}
	}
	return span{a.v / b.v, a.low / b.high, a.high / b.low}
}

// beyond says by what fraction a lies above (positive) or below all that b may be.
func (a span) beyond(b span) float64 {
	switch {
	case a.low > b.high && b.high > 0:
		return a.low/b.high - 1
	case a.high < b.low && b.low > 0:
		return a.high/b.low - 1
	}
	return 0
}
