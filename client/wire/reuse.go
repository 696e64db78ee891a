package wire

import (
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Errors of a write that was not made: nothing of the request has left this machine.
var (
	errGone    = errors.New("the server had closed the connection before it was used again")
	errRetired = errors.New("the connection was due to be closed")
)

const (
	// keepAliveMargin is subtracted from a server's keep-alive time. The server's clock starts one network trip before ours,
	// and its FIN needs another trip, so a connection that old by our clock may be closed already.
	keepAliveMargin = time.Second
	// promptly is how soon after an answer a server closes a connection whose number of requests was the reason. Idle
	// timeouts are whole seconds (uvicorn 5 s, gunicorn 2 s).
	promptly = 500 * time.Millisecond
)

// reuse has what decides whether a connection is used again. It is safe for concurrent use.
type reuse struct {
	mu      sync.Mutex
	asked   int           // requests of which something was written
	answers int           // of those, the ones whose answers were read to the end; it lags behind
	others  bool          // the latest request was one without a Watch
	since   time.Time     // end of the latest answer
	closed  time.Time     // when the server was seen to have closed the connection, or zero
	why     error         // what ended reading
	prompt  bool          // it did so soon after it had last sent something
	retired bool          // this program closed it, or will
	most    int           // how many requests the server says it takes, 0 for no limit
	keep    time.Duration // how long the connection may be idle, 0 for no limit
}

// ready returns nil if a request may be written on a connection that has been kept, or the reason why not. It costs one
// system call.
func (c *Conn) ready() error {
	r := &c.reuse
	r.mu.Lock()
	expired := r.keep > 0 && !r.since.IsZero() && time.Since(r.since) >= r.keep
	r.retired = r.retired || expired
	retired, closed, fresh := r.retired, !r.closed.IsZero(), r.asked == 0
	r.mu.Unlock()
	switch {
	case retired:
		return errRetired
	case closed || !c.socket.alive(fresh && c.secured()):
		return errGone
	}
	return nil
}

// secured reports whether the connection carries TLS, as far as this package made it.
func (c *Conn) secured() bool { return c.Conn != net.Conn(c.socket) }

func (c *Conn) isRetired() bool {
	c.reuse.mu.Lock()
	defer c.reuse.mu.Unlock()
	return c.reuse.retired
}

// unasked notes bytes that came while the connection carried no request: an answer that was not asked for, such as a 408. They
// must not pass for the answer to the next request.
func (c *Conn) unasked() {
	r := &c.reuse
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed.IsZero() && !r.others && r.asked > 0 && r.asked == r.answers {
		r.closed = time.Now()
	}
}

// wroteOther notes a request without a Watch.
func (c *Conn) wroteOther() {
	c.reuse.mu.Lock()
	c.reuse.others = true
	c.reuse.mu.Unlock()
}

// begun notes that a request is about to be written.
func (c *Conn) begun() {
	c.reuse.mu.Lock()
	c.reuse.asked++
	c.reuse.others = false
	c.reuse.mu.Unlock()
}

// timedOut reports whether an error is a deadline's, after which reading may go on.
func timedOut(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// left notes that reading ended with an error, so that the connection is not used again before net/http closes it.
func (c *Conn) left(err error) {
	r, now := &c.reuse, time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.why = err
	if !r.closed.IsZero() {
		return
	}
	r.closed = now
	ours := r.retired || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
	r.prompt = !ours && now.Sub(c.socket.last.At) < promptly
	c.learn()
}

// full reports whether the answer that has just come is the last one that the server allows on the connection. No request
// is written after it.
func (c *Conn) full() bool {
	r := &c.reuse
	r.mu.Lock()
	defer r.mu.Unlock()
	if most := r.limit(c.habit); most == 0 || r.asked < most {
		return false
	}
	r.retired = true
	return true
}

// answered notes that an answer was read to its end. It closes the connection if that was the last one, and the framing had
// not shown where it ends.
func (c *Conn) answered() {
	r := &c.reuse
	r.mu.Lock()
	r.answers++
	r.since = time.Now()
	c.learn()
	most := r.limit(c.habit)
	last := most > 0 && r.asked >= most && r.asked == r.answers && !r.retired
	r.retired = r.retired || last
	r.mu.Unlock()
	if last {
		c.Close()
	}
}

// limit returns how many requests the connection may carry, 0 for any number.
func (r *reuse) limit(h *habit) int {
	if n := h.most(); r.most == 0 || n > 0 && n < r.most {
		return n
	}
	return r.most
}

// learn records that the server closed the connection between two requests, soon after an answer. It records nothing
// if a request was under way: that is a failure of the server, and must stay visible. The caller holds the lock.
func (c *Conn) learn() {
	r := &c.reuse
	if r.prompt && !r.closed.IsZero() && r.answers > 0 && r.asked == r.answers {
		r.prompt = false
		c.habit.saw(r.answers)
	}
}

// habit is the number of requests that a server accepts on one connection, learned by observation: some servers close a connection without
// announcing it. llama.cpp's server does so after each streamed answer. Without this, every request of a closed loop
// would race with the FIN. It is safe for concurrent use, and a nil habit has learned nothing.
type habit struct {
	mu    sync.Mutex
	last  int // requests on the connection that was closed last
	limit int // 0 until two connections in succession were closed after equally many
}

func (h *habit) saw(requests int) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if requests == h.last && (h.limit == 0 || requests < h.limit) {
		h.limit = requests
	}
	h.last = requests
}

func (h *habit) most() int {
	if h == nil {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.limit
}

// KeepAlive takes in the value of an answer's Keep-Alive header, such as "timeout=5, max=100" (RFC 2068, section
// 19.7.1.1). The connection is not used again once it has been idle for almost that time or has carried that many requests.
func (w *Watch) KeepAlive(header string) {
	w.mu.Lock()
	c := w.conn
	w.mu.Unlock()
	if c == nil {
		return
	}
	c.reuse.mu.Lock()
	defer c.reuse.mu.Unlock()
	for header != "" {
		var part string
		part, header, _ = strings.Cut(header, ",")
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		n, err := strconv.Atoi(strings.Trim(value, `"`))
		if err != nil || n < 0 || n > 1e9 {
			continue
		}
		switch {
		case strings.EqualFold(name, "timeout"):
			c.reuse.keep = keepFor(time.Duration(n) * time.Second)
		case strings.EqualFold(name, "max") && c.reuse.most == 0:
			// Servers mean the number from the start (cpp-httplib) or the number left (Apache). The first answer's number is
			// right or one too few.
			c.reuse.most = max(n, 1)
		}
	}
}

// keepFor returns how long a connection may be kept that the server closes after the given idle time.
func keepFor(timeout time.Duration) time.Duration {
	return max(timeout-keepAliveMargin, timeout/2, time.Nanosecond)
}

// Answered notes that the request's answer was read to its end, so that the connection is free for another request.
func (w *Watch) Answered() {
	w.mu.Lock()
	c := w.conn
	w.mu.Unlock()
	if c != nil {
		c.answered()
	}
}

// CutHead returns how the connection ended if it did so within a header line of the answer, or nil. What net/http says of such
// an answer is that the line is malformed.
func (w *Watch) CutHead() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn == nil || !w.plain || w.body.state != inHead || w.body.column == 0 {
		return nil
	}
	w.conn.reuse.mu.Lock()
	defer w.conn.reuse.mu.Unlock()
	return w.conn.reuse.why
}

// Withdraw reports whether the server provably received nothing of the request on the connection that was attached last: it
// was found closed before the first byte was written, or the kernel accepted none. Nothing will be written on that
// connection from then on. Ours tells that this program had given the connection up, so that the server did not close it
// first. Withdraw returns false where there is no proof. Call it before [Watch.Detach].
func (w *Watch) Withdraw() (unseen, ours bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn == nil || !w.sent.IsZero() || w.accepted != 0 {
		return false, false
	}
	w.conn.socket.shut.Store(true)
	return true, w.conn.isRetired()
}

// writing is called before each write. It stamps the request's first byte, unless the connection cannot carry a request any
// more: then the error says so, and nothing may be written.
func (w *Watch) writing(s *socket) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case s.shut.Load():
		return errRetired
	case w.socket != s || w.failed || !w.sent.IsZero():
		return nil
	}
	if w.kept {
		if err := w.conn.ready(); err != nil {
			w.failed = true
			return err
		}
	}
	w.conn.begun()
	w.sent = time.Now()
	return nil
}

// wrote is called after each write with what the kernel accepted. What TLS writes after a failure, its close_notify, is not
// part of the request.
func (w *Watch) wrote(s *socket, n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.socket != s || w.failed {
		return
	}
	w.accepted += int64(n)
	if err != nil {
		w.failed = true
		if w.accepted == 0 {
			w.sent = time.Time{}
		}
	}
}

// progress is the number of bytes of a request that have been written, and since when.
type progress struct {
	accepted int64     // bytes that the kernel accepted, as they are on the socket
	sent     time.Time // first byte of the request, if it reached the kernel
}

func (w *Watch) progress() progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen.progress
}

// restore takes back what was noted since before.
func (w *Watch) restore(s *socket, before progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.socket == s {
		w.seen.progress = before
	}
}
