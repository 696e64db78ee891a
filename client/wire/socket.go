package wire

import (
	"net"
	"sync/atomic"
	"time"
)

// maxQueued is an upper bound for the time that bytes take through this machine's kernel. It detects impossible
// timestamps.
const maxQueued = 100 * time.Millisecond

// socket is a connection that knows when the bytes of its newest receive arrived. One goroutine at a time reads from
// it.
type socket struct {
	net.Conn
	receiver
	pulse  pulse
	watch  atomic.Pointer[Watch]
	last   Receive     // the newest receive; its End is not known here
	stamp  int64       // its timestamp of the kernel
	full   bool        // it filled its buffer
	asking atomic.Bool // what is written is a request, and not TLS's close_notify
	shut   atomic.Bool // nothing may be written any more
	above  *Conn       // the connection that this is the socket of; nil in tests
}

// newSocket returns a socket over a new connection.
func newSocket(c net.Conn) *socket {
	s := &socket{Conn: c}
	s.init(c)
	s.pulse.init(c)
	return s
}

// Read receives once.
func (s *socket) Read(p []byte) (int, error) {
	n, stamp, err := s.receive(p)
	if n > 0 {
		if s.above != nil && s.above.secured() { // a request may be written while TLS still decrypts
			if w := s.watch.Load(); w == nil || w.unsent() {
				s.above.unasked()
			}
		}
		s.note(time.Now(), stamp, n == len(p))
	}
	return n, err
}

// note numbers and timestamps a receive that returned now. The kernel's stamp is in nanoseconds of the wall clock, 0 for
// none. A receive that filled its buffer left bytes behind that arrived with it, so the next one has the same number.
func (s *socket) note(now time.Time, stamp int64, full bool) {
	r := Receive{Seq: s.last.Seq + 1, At: now}
	if at := s.arrival(now, stamp); stamp != 0 && stamp == s.stamp {
		r = s.last // a further part of the same packets
	} else if !at.IsZero() {
		r.At, r.Delay, r.Kernel = at, now.Sub(at), true
		if at.Before(s.last.At) { // last.At was this program's own: instants must not decrease
			r.At = s.last.At
		}
	}
	if s.full {
		r.Seq = s.last.Seq
	}
	s.last, s.stamp, s.full = r, stamp, full
}

// arrival converts the kernel's timestamp to the monotonic clock. The argument now has readings of both clocks, so the
// time between the stamp and the wall clock can be subtracted from the monotonic one. It returns the zero time where
// there is no stamp, and where the stamp is impossible because the wall clock was set in between.
func (s *socket) arrival(now time.Time, stamp int64) time.Time {
	delay := time.Duration(now.UnixNano() - stamp)
	if stamp == 0 || delay < 0 || now.Add(-delay).Before(s.floor()) {
		return time.Time{}
	}
	return now.Add(-delay)
}

// floor returns the earliest possible arrival of the newest receive.
func (s *socket) floor() time.Time {
	if s.empty.After(s.last.At) {
		return s.empty.Add(-maxQueued)
	}
	return s.last.At.Add(-maxQueued)
}

// alive reports whether the connection can carry another request; see [pulse.alive].
func (s *socket) alive(mayTalk bool) bool { return s.pulse.alive(mayTalk) }

// Write writes. It timestamps the request's first byte before the call, because after it the answer may have arrived. It
// writes nothing if the server has closed a kept connection. The check is here, directly before the write, because the server
// may close at any moment between the two.
func (s *socket) Write(p []byte) (int, error) {
	w := s.watch.Load()
	if w == nil || !s.asking.Load() {
		if s.shut.Load() {
			return 0, errRetired
		}
		return s.Conn.Write(p)
	}
	if err := w.writing(s); err != nil {
		return 0, err
	}
	n, err := s.Conn.Write(p)
	w.wrote(s, n, err)
	return n, err
}
