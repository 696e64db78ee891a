package sample

import (
	"slices"
	"time"
)

// Waves finds the waves of a closed loop. Requests of equal length that began together end together, and the next
// begin: a wave is as many requests as there are slots. Of the instants at which requests ended it keeps one wave of
// the earliest, and of the latest two waves and at least minEnds: where a loop runs empty its last wave is not whole.
// They may be added in any order; in ascending order an addition takes constant time.
type Waves struct {
	width  int // requests in a wave
	n      int
	first  []time.Duration // the earliest, ascending
	latest ring            // the latest, ascending
}

// minEnds takes 32 KiB.
const minEnds = 4096

// NewWaves returns an empty list of instants for a closed loop with width requests in flight.
func NewWaves(width int) *Waves { return &Waves{width: max(width, 1)} }

// Add adds the instant at which a request ended.
func (w *Waves) Add(at time.Duration) {
	w.n++
	if len(w.first) < w.width || at < w.first[w.width-1] {
		i, _ := slices.BinarySearch(w.first, at)
		w.first = slices.Insert(w.first, i, at)
		w.first = w.first[:min(len(w.first), w.width)]
	}
	if w.latest.n == max(2*w.width, minEnds) {
		if at <= w.latest.at(0) {
			return
		}
		w.latest.removeFirst()
	}
	w.latest.insert(at)
}

// Whole returns the whole waves that had ended by an instant: from the end of the first wave, which filled the server,
// to the end of the last whole one, and n, the number of requests in them. n is 0 where there is no whole wave yet. A
// loop of one request has no first wave to leave out.
func (w *Waves) Whole(by time.Duration) (from, to time.Duration, n int) {
	later := 0
	for later < w.latest.n && w.latest.at(w.latest.n-1-later) > by {
		later++
	}
	count := (w.n - later) / w.width * w.width
	last := w.latest.n - 1 - (w.n - count)
	if count == 0 || w.width > 1 && count < 2*w.width || last < 0 {
		return 0, 0, 0
	}
	to = w.latest.at(last)
	if w.width == 1 {
		return 0, to, count
	}
	return w.first[w.width-1], to, count - w.width
}

// ring is an ascending list that loses its first element, and gains one near its end, without shifting the others.
type ring struct {
	slots []time.Duration // a power of two of them
	head  int             // the slot of the first element
	n     int
}

func (r *ring) slot(i int) int { return (r.head + i) & (len(r.slots) - 1) }

func (r *ring) at(i int) time.Duration { return r.slots[r.slot(i)] }

func (r *ring) removeFirst() {
	r.head = r.slot(1)
	r.n--
}

// insert puts v in its place, behind its equals.
func (r *ring) insert(v time.Duration) {
	if r.n == len(r.slots) {
		grown := make([]time.Duration, max(8, 2*len(r.slots)))
		for i := range r.n {
			grown[i] = r.at(i)
		}
		r.slots, r.head = grown, 0
	}
	i := r.n
	for ; i > 0 && r.at(i-1) > v; i-- {
		r.slots[r.slot(i)] = r.at(i - 1)
	}
	r.slots[r.slot(i)] = v
	r.n++
}
