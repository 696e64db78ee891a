package selftest

import (
	"container/heap"
	"errors"
	"runtime"
	"time"
)

// Phases of the streams of a level.
const (
	Uniform = "uniform" // tokens spread evenly over the interval
	InStep  = "in_step" // all tokens at once, as servers send that batch
)

const (
	ttft        = 10 * time.Millisecond  // from the last request of a level to its first token
	quantum     = 200 * time.Microsecond // tokens that are due within this of each other are sent together
	maxNap      = ttft / 2               // no new stream is due earlier
	gatherTime  = time.Second            // how long streams that begin together wait for the rest of them
	inboxLength = 1024
)

// pacer is one thread that writes the tokens of all streams when they are due, straight to their sockets: a goroutine
// per stream would cost more than the writes.
type pacer struct {
	clock   pacedClock
	inbox   chan *stream
	quit    chan struct{}
	waiting []*stream // for others to begin with
	since   time.Time // when the last of them arrived
	running byDue
}

func newPacer(c pacedClock) *pacer {
	return &pacer{clock: c, inbox: make(chan *stream, inboxLength), quit: make(chan struct{})}
}

// errQuit ends the streams of a server that has stopped.
var errQuit = errors.New("the server has stopped")

func (p *pacer) serve(s *stream) error {
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
	for {
		if len(p.waiting)+len(p.running) == 0 {
			select {
			case s := <-p.inbox:
				p.enqueue(s)
			case <-p.quit:
				return
			}
		}
		if !p.drainInbox() {
			return
		}
		p.schedule()
		nap(min(max(p.send(), quantum), maxNap))
	}
}

// drainInbox enqueues the streams that have arrived. It returns false when the server stops.
func (p *pacer) drainInbox() bool {
	for {
		select {
		case s := <-p.inbox:
			p.enqueue(s)
		case <-p.quit:
			return false
		default:
			return true
		}
	}
}

func (p *pacer) enqueue(s *stream) { p.waiting, p.since = append(p.waiting, s), time.Now() }

// schedule starts the streams that wait, once all of them have arrived or gatherTime is over.
func (p *pacer) schedule() {
	n := len(p.waiting)
	if n == 0 || n < p.waiting[0].Streams && time.Since(p.since) < gatherTime {
		return
	}
	from := p.clock.Now() + int64(ttft)
	for i, s := range p.waiting {
		s.due = from
		if s.Phase == Uniform {
			s.due += int64(s.Every) * int64(i) / int64(n)
		}
		heap.Push(&p.running, s)
	}
	p.waiting = p.waiting[:0]
}

// send sends what is due and returns the time until more will be, or maxNap where nothing will.
func (p *pacer) send() time.Duration {
	for len(p.running) > 0 {
		s := p.running[0]
		if left := s.due - p.clock.Now(); left > 0 {
			return time.Duration(left)
		}
		if !s.next(p.clock) {
			heap.Pop(&p.running)
			close(s.done)
			continue
		}
		s.due += int64(s.Every)
		heap.Fix(&p.running, 0)
	}
	return maxNap
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
