package sample

import "time"

// Bins are a [Level] as another process can read it.
type Bins struct {
	Width time.Duration
	Area  []float64 // number x seconds, by bin; the last is not full
	Peak  []int     // highest number, by bin
	Last  time.Duration
}

// Bins returns the level's bins. They are not copied.
func (l *Level) Bins() Bins { return Bins{l.width, l.area, l.peak, l.last} }

// Sum returns the sum of levels, up to the latest instant of any. Their widths differ by powers of two. The area is exact. The peak of
// a bin is the sum of the peaks, which may have come at different instants of it: an upper bound. Without levels it is 0 throughout.
func Sum(all []Bins) *Level {
	sum := NewLevel(time.Millisecond)
	for i, b := range all {
		if i == 0 {
			sum.width = b.Width
		}
		sum.width = max(sum.width, b.Width)
		sum.last = max(sum.last, b.Last)
	}
	for _, b := range all {
		l := &Level{width: b.Width, area: append([]float64(nil), b.Area...), peak: append([]int(nil), b.Peak...)}
		for l.width < sum.width {
			l.merge()
		}
		for len(sum.area) < len(l.area) {
			sum.area, sum.peak = append(sum.area, 0), append(sum.peak, 0)
		}
		for k := range l.area {
			sum.area[k] += l.area[k]
			sum.peak[k] += l.peak[k]
		}
	}
	return sum
}
