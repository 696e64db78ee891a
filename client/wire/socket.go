package wire

import (
	"net"
	"sync/atomic"
	"time"
)

// maxQueued is how long bytes may have been on their way through this machine's kernel, at the very most.
const maxQueued = 100 * time.Millisecond

// socket is the end of a connection: it knows when the bytes of its newest receive arrived. One goroutine at a time
// reads from it.
type socket struct {
	net.Conn
	receiver
	pulse  pulse
	watch  atomic.Pointer[Watch]
	last   Receive     // the newest; its End is not known here
	stamp  int64       // the kernel's, of that
	full   bool        // it filled its buffer
	asking atomic.Bool // what is written is a request, and not TLS's farewell
	shut   atomic.Bool // nothing may be written any more
}

// newSocket makes a socket of a new connection.
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
		s.note(time.Now(), stamp, n == len(p))
	}
	return n, err
}

// note numbers and dates a receive that returned now. The kernel's stamp is nanoseconds of the wall clock, 0 for none; a
// receive that filled its buffer has left bytes behind, which came with it.
func (s *socket) note(now time.Time, stamp int64, full bool) {
	r := Receive{Seq: s.last.Seq + 1, At: now}
	if at := s.arrival(now, stamp); stamp != 0 && stamp == s.stamp {
		r = s.last // more of what was merged
	} else if !at.IsZero() {
		r.At, r.Delay, r.Kernel = at, now.Sub(at), true
		if at.Before(s.last.At) { // that was this program's: instants do not go back
			r.At = s.last.At
		}
	}
	if s.full {
		r.Seq = s.last.Seq
	}
	s.last, s.stamp, s.full = r, stamp, full
}

// arrival puts the kernel's stamp on the monotonic clock. Now holds readings of both clocks, so that what lies between
// the wall's and the stamp can be taken off the other. A clock that was set in between makes a stamp of the future, or
// of a time before the bytes can have come: the zero time, as for no stamp.
func (s *socket) arrival(now time.Time, stamp int64) time.Time {
	delay := time.Duration(now.UnixNano() - stamp)
	if stamp == 0 || delay < 0 || now.Add(-delay).Before(s.floor()) {
		return time.Time{}
	}
	return now.Add(-delay)
}

// floor is the earliest time that can be true.
func (s *socket) floor() time.Time {
	if s.empty.After(s.last.At) {
		return s.empty.Add(-maxQueued)
	}
	return s.last.At.Add(-maxQueued)
}

// alive reports whether the connection can carry another request; see [pulse.alive].
func (s *socket) alive(mayTalk bool) bool { return s.pulse.alive(mayTalk) }

// Write writes, and has the request's first byte stamped just before it goes: after the call the answer may be here
// already. The first byte does not go out if the server has closed a kept connection; the check is made here because every
// moment between it and the write is one in which the server may close.
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
