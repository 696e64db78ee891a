package sweep

import (
	"math"
	"time"
)

// series integrates a count that changes in steps, in bins of equal width. When the bins run out, neighbours are merged
// and the width doubles: memory does not grow with the length of a stage.
type series struct {
	width time.Duration
	area  []float64 // count x seconds, by bin; the last is not full
	peak  []int     // highest count, by bin
	level int
	last  time.Duration
}

const maxBins = 4096

func newSeries(width time.Duration) *series { return &series{width: width} }

// add changes the count by delta at the given instant, which does not lie before the last one.
func (s *series) add(at time.Duration, delta int) {
	s.advance(at)
	s.level += delta
	if n := len(s.peak); n > 0 {
		s.peak[n-1] = max(s.peak[n-1], s.level)
	}
}

// advance integrates up to the given instant.
func (s *series) advance(to time.Duration) {
	if to < s.last {
		return
	}
	for {
		bin := int(s.last / s.width)
		if bin >= maxBins {
			s.merge()
			continue
		}
		if len(s.area) <= bin {
			s.area = append(s.area, 0)
			s.peak = append(s.peak, s.level)
		}
		end := min(to, time.Duration(bin+1)*s.width)
		s.area[bin] += float64(s.level) * (end - s.last).Seconds()
		s.last = end
		if end == to && to < time.Duration(bin+1)*s.width {
			return
		}
	}
}

func (s *series) merge() {
	half := (len(s.area) + 1) / 2
	for i := range half {
		a, p := s.area[2*i], s.peak[2*i]
		if 2*i+1 < len(s.area) {
			a += s.area[2*i+1]
			p = max(p, s.peak[2*i+1])
		}
		s.area[i], s.peak[i] = a, p
	}
	s.area, s.peak = s.area[:half], s.peak[:half]
	s.width *= 2
}

// integral is count x seconds between two instants, taking the count as even within a bin.
func (s *series) integral(from, to time.Duration) float64 {
	sum := 0.0
	for i := int(from / s.width); i < len(s.area); i++ {
		a, b := max(from, time.Duration(i)*s.width), min(to, time.Duration(i+1)*s.width, s.last)
		if b <= a {
			break
		}
		whole := min(time.Duration(i+1)*s.width, s.last) - time.Duration(i)*s.width
		sum += s.area[i] * float64(b-a) / float64(whole)
	}
	return sum
}

// mean is the average count between two instants; NaN where they do not differ.
func (s *series) mean(from, to time.Duration) float64 {
	if to <= from {
		return math.NaN()
	}
	return s.integral(from, to) / (to - from).Seconds()
}

// highest is the highest count between two instants, to the bin.
func (s *series) highest(from, to time.Duration) int {
	top := 0
	for i := int(from / s.width); i < len(s.peak) && time.Duration(i)*s.width < to; i++ {
		top = max(top, s.peak[i])
	}
	return top
}
