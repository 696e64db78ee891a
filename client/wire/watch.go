package wire

import (
	"net"
	"sync"
	"time"
)

// Receive is a part of an answer's body that arrived together.
type Receive struct {
	End   int64         // offset in the body after its last byte; its first byte is at the End of the receive before
	Seq   int64         // number of the receive on its connection; parts of one receive have the same number
	At    time.Time     // when the bytes arrived, on the monotonic clock
	Delay time.Duration // from At until this program had read them, where Kernel is set
	// Kernel reports that At is the kernel's timestamp. Segments that wait to be received all get the timestamp of the
	// newest, so At is exact for the last byte and an upper bound for those before it.
	Kernel bool
}

// Watch records when the bytes of one request and its answer passed its connection. The zero Watch is ready, and can be
// reused for further requests. It is safe for concurrent use, because net/http reads and writes on its own goroutines.
type Watch struct {
	mu sync.Mutex
	seen
}

// seen has the instants that a Watch has recorded.
type seen struct {
	socket   *socket // nil while there is none; events of other sockets are ignored
	conn     *Conn   // the same connection
	kept     bool    // it was made before this request
	failed   bool    // a write failed, or was not made
	plain    bool    // the data can be read, so the answer's framing can be parsed
	body     framing
	receives []Receive // not yet taken
	progress
	head time.Time // last byte of the answer's head
	end  time.Time // last byte of a chunked body's framing
}

// Attach begins to watch a request on the connection that httptrace.GotConnInfo names. For a request that is sent again
// it starts anew. reused reports whether the connection was in net/http's pool. The server may have closed such a connection,
// or one that Warm made: that is checked before the first byte is written.
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

// Detach ends the watch and keeps what was recorded. Nothing is written to w after it returns.
func (w *Watch) Detach() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.socket != nil {
		w.socket.watch.CompareAndSwap(w, nil)
		w.socket, w.conn = nil, nil
	}
}

// Reset clears w for another request.
func (w *Watch) Reset() {
	w.Detach()
	w.mu.Lock() // a write may be under way that began before the answer to an earlier request came
	defer w.mu.Unlock()
	w.seen = seen{receives: w.receives[:0]}
}

// unsent reports whether nothing of the request has been written, of a connection whose data can be read.
func (w *Watch) unsent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.plain && w.sent.IsZero()
}

// received records bytes of the socket's newest receive, and reports whether they end a chunked body. With TLS, which
// returns one record at a time, one receive can be reported in several parts.
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

// Sent returns when the request's first byte was written; false before that.
func (w *Watch) Sent() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sent, !w.sent.IsZero()
}

// Head returns when the headers of the answer were complete; false before that, and where the data cannot be read.
func (w *Watch) Head() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.head, !w.head.IsZero()
}

// End returns when the bytes that end a chunked body arrived; false before that, and for other bodies.
func (w *Watch) End() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.end, !w.end.IsZero()
}

// Take appends the receives since the last call to to, oldest first.
func (w *Watch) Take(to []Receive) []Receive {
	w.mu.Lock()
	defer w.mu.Unlock()
	to = append(to, w.receives...)
	w.receives = w.receives[:0]
	return to
}
