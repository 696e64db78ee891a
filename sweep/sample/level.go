package sample

import (
	"math"
	"time"
)

// Level integrates a number that changes in steps, such as the number in flight, in bins of equal width. When the bins
// run out, neighbours are merged and the width doubles.
type Level struct {
	width time.Duration
	area  []float64 // number x seconds, by bin; the last is not full
	peak  []int     // highest number, by bin
	level int
	last  time.Duration
}

// maxBins bounds the memory of a level to 64 KiB.
const maxBins = 4096

// NewLevel returns a level of 0 at instant 0, in bins of the given width.
func NewLevel(width time.Duration) *Level { return &Level{width: width} }

// Now returns the number after the last change.
func (l *Level) Now() int { return l.level }

// Add changes the number by delta at an instant that does not lie before the last one.
func (l *Level) Add(at time.Duration, delta int) {
	l.Advance(at)
	l.level += delta
	if n := len(l.peak); n > 0 {
		l.peak[n-1] = max(l.peak[n-1], l.level)
	}
}

// Advance integrates up to an instant.
func (l *Level) Advance(to time.Duration) {
	if to < l.last {
		return
	}
	for {
		bin := int(l.last / l.width)
		if bin >= maxBins {
			l.merge()
			continue
		}
		if len(l.area) <= bin {
			l.area = append(l.area, 0)
			l.peak = append(l.peak, l.level)
		}
		end := min(to, time.Duration(bin+1)*l.width)
		l.area[bin] += float64(l.level) * (end - l.last).Seconds()
		l.last = end
		if end == to && to < time.Duration(bin+1)*l.width {
			return
		}
	}
}

func (l *Level) merge() {
	l.area = MergePairs(l.area, add)
	l.peak = MergePairs(l.peak, func(a, b int) int { return max(a, b) })
	l.width *= 2
}

// integral counts the number as even within a bin.
func (l *Level) integral(from, to time.Duration) float64 {
	sum := 0.0
	for i := int(from / l.width); i < len(l.area); i++ {
		a, b := max(from, time.Duration(i)*l.width), min(to, time.Duration(i+1)*l.width, l.last)
		if b <= a {
			break
		}
		whole := min(time.Duration(i+1)*l.width, l.last) - time.Duration(i)*l.width
		sum += l.area[i] * float64(b-a) / float64(whole)
	}
	return sum
}

// Mean returns the average number between two instants; NaN where the second does not lie after the first.
func (l *Level) Mean(from, to time.Duration) float64 {
	if to <= from {
		return math.NaN()
	}
	return l.integral(from, to) / (to - from).Seconds()
}

// Span returns the first and the last instant at which the number was at least n, to the bin. ok is false where it
// never was.
func (l *Level) Span(n int) (from, to time.Duration, ok bool) {
	for i, peak := range l.peak {
		if peak < n {
			continue
		}
		if !ok {
			from, ok = time.Duration(i)*l.width, true
		}
		to = time.Duration(i+1) * l.width
	}
	return from, to, ok
}

// Peak returns the highest number between two instants, to the bin.
func (l *Level) Peak(from, to time.Duration) int {
	top := 0
	for i := int(from / l.width); i < len(l.peak) && time.Duration(i)*l.width < to; i++ {
		top = max(top, l.peak[i])
	}
	return top
}
