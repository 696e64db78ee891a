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
		s := NewLevel(time.Millisecond)
		level, peak := 0, 0
		const full = 3
		first, last := time.Duration(-1), time.Duration(-1)
		var at time.Duration
		area := 0.0
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			step := time.Duration(rapid.Int64Range(0, int64(200*time.Millisecond)).Draw(t, "step"))
			area += float64(level) * step.Seconds()
			at += step
			if level >= full {
				last = at
			}
			delta := 1
			if level > 0 && rapid.Bool().Draw(t, "down") {
				delta = -1
			}
			level += delta
			peak = max(peak, level)
			s.Add(at, delta)
			if level >= full && first < 0 {
				first = at
			}
		}
		if level >= full {
			last = at + time.Second
		}
		s.Advance(at + time.Second)
		area += float64(level)
		whole := at + time.Second
		if got := s.integral(0, whole); math.Abs(got-area) > 1e-6*(1+area) {
			t.Fatalf("integral %v, want %v", got, area)
		}
		half := whole / 2
		if got := s.integral(0, half) + s.integral(half, whole); math.Abs(got-area) > 1e-6*(1+area) {
			t.Fatalf("the halves add up to %v, want %v", got, area)
		}
		if got := s.Peak(0, whole); got != peak {
			t.Fatalf("peak %d, want %d", got, peak)
		}
		from, to, ok := s.Span(full)
		if ok != (first >= 0) || ok && (from > first || first-from >= s.width || to < last || to-max(last, first) > s.width) {
			t.Fatalf("%d or more from %v to %v, want %v to %v", full, from, to, first, last)
		}
		if len(s.area) > maxBins+1 {
			t.Fatalf("%d bins", len(s.area))
		}
	})
}
