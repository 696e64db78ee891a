package selftest

import (
	"container/heap"
	"errors"
	"math"
	"runtime"
	"time"
)

const (
	patience    = time.Second            // how long streams that begin together wait for the rest of them
	shortestNap = 200 * time.Microsecond // a nap ends at the latest after half a TTFT, or this: no new stream is due earlier
)

// golden is the golden ratio's fractional part. Successive multiples of it, modulo 1, spread evenly however many there are.
const golden = 0.6180339887498949

// pacer is one thread that writes the tokens of all streams when they are due, straight to their sockets: a goroutine per
// stream would cost more than the writes.
type pacer struct {
	PacedConfig
	clock   pacedClock
	truth   *truth
	inbox   chan *stream
	quit    chan struct{}
	waiting []*stream // for others to begin with
	since   time.Time // when the last of them arrived
	running byDue
	begun   int64 // streams, those that begin together left out
}

func newPacer(c PacedConfig, clock pacedClock, t *truth) *pacer {
	return &pacer{PacedConfig: c, clock: clock, truth: t, inbox: make(chan *stream, 1024), quit: make(chan struct{})}
}

// errQuit ends the streams of a server that has stopped.
var errQuit = errors.New("the server has stopped")

// serve answers one request and returns when the answer has been sent.
func (p *pacer) serve(s *stream) error {
	p.truth.arrived(s)
	select {
	case p.inbox <- s:
	case <-p.quit:
		return errQuit
	}
	select {
	case <-s.done:
		return s.err
	case <-p.quit:
		return errQuit
	}
}

func (p *pacer) run() {
	runtime.LockOSThread()
	longest := max(p.TTFT/2, shortestNap)
	for {
		if len(p.waiting)+len(p.running) == 0 {
			select {
			case s := <-p.inbox:
				p.take(s)
			case <-p.quit:
				return
			}
		}
		if !p.gather() {
			return
		}
		p.begin()
		nap(min(max(p.send(longest), p.Quantum), longest))
	}
}

// gather takes the streams that have arrived; it returns false when the server stops.
func (p *pacer) gather() bool {
	for {
		select {
		case s := <-p.inbox:
			p.take(s)
		case <-p.quit:
			return false
		default:
			return true
		}
	}
}

// take schedules a stream, or lets it wait for those that it begins with.
func (p *pacer) take(s *stream) {
	if s.order.Streams > 0 {
		p.waiting, p.since = append(p.waiting, s), time.Now()
		return
	}
	p.begun++
	s.due = s.t0 + int64(p.TTFT)
	switch p.Phase {
	case PacedUniform:
		_, phase := math.Modf(golden * float64(p.begun))
		s.due += int64(phase * float64(s.every))
	case PacedInStep:
		s.due = (s.due + int64(s.every) - 1) / int64(s.every) * int64(s.every)
	}
	heap.Push(&p.running, s)
}

// begin schedules the streams that waited for each other, once all of them are there or the rest does not come.
func (p *pacer) begin() {
	n := len(p.waiting)
	if n == 0 || n < p.waiting[0].order.Streams && time.Since(p.since) < patience {
		return
	}
	from := p.clock.Now() + int64(p.TTFT)
	for i, s := range p.waiting {
		if s.due = from; s.order.Phase == PacedUniform {
			s.due += int64(s.every) * int64(i) / int64(n)
		}
		heap.Push(&p.running, s)
	}
	p.waiting = p.waiting[:0]
}

// send sends what is due and returns the time until more will be, or longest where nothing will.
func (p *pacer) send(longest time.Duration) time.Duration {
	for len(p.running) > 0 {
		s := p.running[0]
		if left := s.due - p.clock.Now(); left > 0 {
			return time.Duration(left)
		}
		if !p.truth.next(s) {
			heap.Pop(&p.running)
			close(s.done)
			continue
		}
		s.due += int64(s.every)
		heap.Fix(&p.running, 0)
	}
	return longest
}

// byDue is a heap of streams, the one whose token is due next at the top.
type byDue []*stream

func (h byDue) Len() int           { return len(h) }
func (h byDue) Less(i, j int) bool { return h[i].due < h[j].due }
func (h byDue) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push appends a *stream, for package heap.
func (h *byDue) Push(x any) { *h = append(*h, x.(*stream)) }

// Pop removes the last one, for package heap.
func (h *byDue) Pop() any {
	n := len(*h) - 1
	s := (*h)[n]
	(*h)[n] = nil
	*h = (*h)[:n]
	return s
}
