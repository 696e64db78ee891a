package selftest

import (
	"container/heap"
	"errors"
	"net"
	"runtime"
	"time"
)

const (
	quantum  = 200 * time.Microsecond // tokens that are due within this go out together
	longest  = 5 * time.Millisecond   // between looks for new streams
	patience = time.Second            // for the rest of those that shall begin together
	headway  = 5 * time.Millisecond   // from the last one's being there to the first token
)

// pacer is one thread that writes the tokens of all streams when they are due, straight to their sockets: a goroutine for
// each would cost more than it writes.
type pacer struct {
	clock   clock
	inbox   chan *stream
	quit    chan struct{}
	waiting []*stream // for others to begin with
	since   time.Time // the last of them came
	running byDue
}

// stream is one answer.
type stream struct {
	order
	conn  net.Conn
	chunk []byte
	at    int // of the instant in chunk
	left  int // tokens
	total int
	due   int64 // of the next
	done  chan error
}

func newPacer() *pacer {
	return &pacer{clock: newClock(), inbox: make(chan *stream, 1024), quit: make(chan struct{})}
}

// errQuit ends the streams of a pacer that has stopped.
var errQuit = errors.New("the server ends")

// stream answers one request, and returns when it has.
func (p *pacer) stream(c net.Conn, tokens int, o order) error {
	s := &stream{order: o, conn: c, left: tokens, total: tokens, done: make(chan error, 1)}
	s.chunk, s.at = tokenChunk()
	select {
	case p.inbox <- s:
	case <-p.quit:
		return errQuit
	}
	select {
	case err := <-s.done:
		return err
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
				p.take(s)
			case <-p.quit:
				return
			}
		}
		if !p.gather() {
			return
		}
		p.begin()
		nap(min(max(p.send(), quantum), longest))
	}
}

// gather takes in those that have come; false when all is over.
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

func (p *pacer) take(s *stream) {
	p.waiting, p.since = append(p.waiting, s), time.Now()
}

// begin sets the phases of those that waited for each other, when all are there or the rest does not come.
func (p *pacer) begin() {
	n := len(p.waiting)
	if n == 0 || n < p.waiting[0].Streams && time.Since(p.since) < patience {
		return
	}
	from := p.clock.now() + int64(headway)
	for i, s := range p.waiting {
		if s.due = from; s.Phase == Uniform {
			s.due += int64(s.Every) * int64(i) / int64(n)
		}
		heap.Push(&p.running, s)
	}
	p.waiting = p.waiting[:0]
}

// send sends what is due, and says how long it is until more will be.
func (p *pacer) send() time.Duration {
	for len(p.running) > 0 {
		s := p.running[0]
		if left := s.due - p.clock.now(); left > 0 {
			return time.Duration(left)
		}
		if err := s.next(p.clock); err != nil || s.left == 0 {
			heap.Pop(&p.running)
			s.done <- err
			continue
		}
		s.due += int64(s.Every)
		heap.Fix(&p.running, 0)
	}
	return longest
}

// next sends one token: the answer's head before the first, its end behind the last.
func (s *stream) next(c clock) error {
	b, at := s.chunk, s.at
	if s.left == s.total {
		b, at = append([]byte(head), b...), at+len(head)
	}
	if s.left--; s.left == 0 {
		b = append(b, tail(s.total)...)
	}
	instant(b[at:], c.now())
	_, err := s.conn.Write(b)
	return err
}

// byDue is a heap of streams.
type byDue []*stream

func (h byDue) Len() int           { return len(h) }
func (h byDue) Less(i, j int) bool { return h[i].due < h[j].due }
func (h byDue) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds a *stream.
func (h *byDue) Push(x any) { *h = append(*h, x.(*stream)) }

// Pop takes the last off.
func (h *byDue) Pop() any {
	n := len(*h) - 1
	s := (*h)[n]
	(*h)[n] = nil
	*h = (*h)[:n]
	return s
}
