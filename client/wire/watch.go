package wire

import (
	"net"
	"sync"
	"time"
)

// Receive is bytes of an answer's body that came together.
type Receive struct {
	End   int64         // the body's bytes before this offset, and after the receive before, came with it
	Seq   int64         // numbers the receives of a connection: what has one number came together
	At    time.Time     // when they arrived, on the monotonic clock
	Delay time.Duration // from then until this program had them, where the kernel says when they arrived
	// Kernel tells that At is the kernel's. Segments that waited to be received all carry the stamp of the newest, so At
	// is when the last byte came, and a bound for those before.
	Kernel bool
}

// Watch is one request's view of its connection. The zero Watch is ready, and may be used for one request after
// another. net/http reads and writes on goroutines of its own, so it is safe for concurrent use.
type Watch struct {
	mu sync.Mutex
	seen
}

// seen is what a Watch has seen.
type seen struct {
	socket   *socket // nil while there is none; what other sockets say is not for this request
	conn     *Conn   // the same connection
	kept     bool    // it was there before this request
	failed   bool    // a write failed, or was not made
	plain    bool    // what comes can be read
	body     framing
	receives []Receive // not yet taken
	progress
	head time.Time // last byte of the answer's head
	end  time.Time // last byte of a chunked body's framing
}

// Attach begins to watch a request on the connection that is about to carry it, which httptrace.GotConnInfo names. A
// request that goes out again is watched anew. Reused tells that the connection was in net/http's pool. Such a
// connection, and one made ahead of need, may have been closed by the server since: that is checked before the first byte
// is written.
func (w *Watch) Attach(c net.Conn, reused bool) {
	w.Detach()
	conn, plain := find(c)
	if conn == nil {
		w.Reset()
		return
	}
	w.mu.Lock()
	w.seen = seen{socket: conn.socket, conn: conn, kept: reused || conn.ahead, plain: plain, receives: w.receives[:0]}
	w.mu.Unlock()
	conn.socket.watch.Store(w)
}

// Detach ends the watch; what it saw stays. Nothing is written to w after it returns.
func (w *Watch) Detach() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.socket != nil {
		w.socket.watch.CompareAndSwap(w, nil)
		w.socket, w.conn = nil, nil
	}
}

// Reset forgets what was seen, for another request.
func (w *Watch) Reset() {
	w.Detach()
	w.mu.Lock() // a write may be under way that began before the answer to an earlier request came
	defer w.mu.Unlock()
	w.seen = seen{receives: w.receives[:0]}
}

// received notes bytes that came with the socket's newest receive, and reports whether they end a chunked body. One receive
// may be told in parts, where TLS hands out one record after another.
func (w *Watch) received(s *socket, p []byte) (ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.socket != s || !w.plain {
		return false
	}
	if w.sent.IsZero() {
		w.conn.unasked()
	}
	before := w.body.total
	w.body.pass(p)
	r := s.last
	if w.head.IsZero() && w.body.begun() {
		w.head = r.At
	}
	if w.end.IsZero() && w.body.ended() {
		w.end = r.At
		ended = true
	}
	if r.End = w.body.total; r.End > before {
		w.receives = append(w.receives, r)
	}
	return ended
}

// Sent is when the request's first byte was written; false before that.
func (w *Watch) Sent() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent, !w.sent.IsZero()
}

// Head is when the head of the answer was complete; false before that, or where it cannot be told.
func (w *Watch) Head() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.head, !w.head.IsZero()
}

// End is when the bytes came that say that a chunked body is at its end; false before that, or where none do.
func (w *Watch) End() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.end, !w.end.IsZero()
}

// Take moves the receives since the last call to the end of to, oldest first.
func (w *Watch) Take(to []Receive) []Receive {
	w.mu.Lock()
	defer w.mu.Unlock()
	to = append(to, w.receives...)
	w.receives = w.receives[:0]
	return to
}
