package sample

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The series must hold the exact area of a step function, however often its bins were merged.
func TestSeriesHoldsTheArea(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const full = 3
		s := NewLevel(time.Millisecond)
		level, peak, area := 0, 0, 0.0
		first, last, at := time.Duration(-1), time.Duration(-1), time.Duration(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			step := time.Duration(rapid.Int64Range(0, int64(200*time.Millisecond)).Draw(t, "step"))
			area += float64(level) * step.Seconds()
			if at += step; level >= full {
				last = at
			}
			delta := 1
			if level > 0 && rapid.Bool().Draw(t, "down") {
				delta = -1
			}
			s.Add(at, delta)
			level += delta
			if peak = max(peak, level); level >= full && first < 0 {
				first = at
			}
		}
		const rest = 20 // seconds, so that bins are merged
		whole := at + rest*time.Second
		if s.Advance(whole); level >= full {
			last = whole
		}
		area += float64(level) * rest
		for _, got := range []float64{s.integral(0, whole), s.integral(0, whole/2) + s.integral(whole/2, whole)} {
			if math.Abs(got-area) > 1e-6*(1+area) {
				t.Fatalf("integral %v, want %v", got, area)
			}
		}
		from, to, ok := s.Span(full)
		if ok != (first >= 0) || ok && (from > first || first-from >= s.width || to < last || to-max(last, first) > s.width) {
			t.Fatalf("%d or more from %v to %v, want %v to %v", full, from, to, first, last)
		}
		if got := s.Peak(0, whole); got != peak || len(s.area) > maxBins+1 {
			t.Fatalf("peak %d, want %d, in %d bins", got, peak, len(s.area))
		}
	})
}
