package sweep

import (
	"slices"
	"time"
)

// ends keeps of the instants at which a closed loop's requests ended what its waves are found by: a wave's worth of the
// earliest and of the latest. They may be added in any order.
type ends struct {
	width  int // requests in flight: as many as make a wave
	n      int
	first  []time.Duration // the earliest, ascending
	latest []time.Duration // the latest, ascending
}

func newEnds(width int) *ends { return &ends{width: max(width, 1)} }

func (e *ends) add(at time.Duration) {
	e.n++
	if len(e.first) < e.width || at < e.first[e.width-1] {
		i, _ := slices.BinarySearch(e.first, at)
		e.first = slices.Insert(e.first, i, at)
		e.first = e.first[:min(len(e.first), e.width)]
	}
	if len(e.latest) == e.width {
		if at <= e.latest[0] {
			return
		}
		e.latest = slices.Delete(e.latest, 0, 1)
	}
	i, _ := slices.BinarySearch(e.latest, at)
	e.latest = slices.Insert(e.latest, i, at)
}

// waves finds the whole waves in a closed loop: from the end of the first wave, which filled the server, to the end of the
// last whole one. One request at a time has no such transient, and counts from the start. n is the number of requests in
// them; 0 where there is no whole wave yet.
func (e *ends) waves() (from, to time.Duration, n int) {
	whole := e.n / e.width * e.width
	if whole == 0 || e.width > 1 && whole < 2*e.width {
		return 0, 0, 0
	}
	to = e.latest[len(e.latest)-1-(e.n-whole)]
	if e.width == 1 {
		return 0, to, whole
	}
	return e.first[e.width-1], to, whole - e.width
}
