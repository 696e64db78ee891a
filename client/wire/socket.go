package wire

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// maxQueued bounds the time that bytes take through this machine's kernel, to detect impossible timestamps.
const maxQueued = 100 * time.Millisecond

// Arrival is when the bytes of one receive arrived.
type Arrival struct {
	Seq   int64         // number of the receive on its connection; parts of one receive share it
	At    time.Time     // on the monotonic clock
	Delay time.Duration // from At until this program had read them, where Kernel is set
	// Kernel: At is the kernel's timestamp. Segments that wait to be received all get that of the newest, so At is exact
	// for the last byte and an upper bound for those before it.
	Kernel bool
}

// socket is a connection that times its receives. One goroutine at a time reads from it.
type socket struct {
	net.Conn
	receiver
	liveness  liveness
	last      Arrival // the newest receive
	lastStamp int64   // its timestamp of the kernel
	lastFull  bool    // it filled its buffer
	emptiedAt time.Time
	accepted  atomic.Int64 // bytes that the kernel accepted
	hangups   *hangups     // nil where it does not watch the socket
	hangupID  uint64       // key in hangups.sockets
	hungUp    atomic.Bool  // the peer has closed its side, or the connection is broken
	aborted   atomic.Bool  // see Conn.Abort
	unread    []byte       // received, and not yet read by TLS
}

func newSocket(c net.Conn) *socket {
	s := &socket{Conn: c}
	s.init(s)
	s.liveness.init(c)
	return s
}

// wake ends a wait for data: no more will come than what is there.
func (s *socket) wake() {
	s.hungUp.Store(true)
	s.SetReadDeadline(time.Unix(1, 0))
}

// wasWoken reports whether a wait ended with err because of wake, and makes reading possible again.
func (s *socket) wasWoken(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) || !s.hungUp.Load() || s.aborted.Load() {
		return false
	}
	s.SetReadDeadline(time.Time{})
	return !s.aborted.Load() // Abort may have come in between
}

// stampReceive numbers and times a receive that returned now. The kernel's stamp is in nanoseconds of the wall clock, 0
// for none. After a receive that filled its buffer the next one has the same number: its bytes arrived with it.
func (s *socket) stampReceive(now time.Time, stamp int64, full bool) {
	r := Arrival{Seq: s.last.Seq + 1, At: now}
	if at := s.arrival(now, stamp); stamp != 0 && stamp == s.lastStamp {
		r = s.last // a further part of the same packets
	} else if !at.IsZero() {
		r.At, r.Delay, r.Kernel = at, now.Sub(at), true
		if at.Before(s.last.At) { // last.At was this program's own: instants must not decrease
			r.At = s.last.At
		}
	}
	if s.lastFull {
		r.Seq = s.last.Seq
	}
	s.last, s.lastStamp, s.lastFull = r, stamp, full
	if !full {
		s.emptiedAt = now
	}
}

// arrival converts the kernel's timestamp to the monotonic clock: now has readings of both clocks. It returns the zero
// time where there is no stamp, and where the stamp is impossible because the wall clock was set meanwhile.
func (s *socket) arrival(now time.Time, stamp int64) time.Time {
	emptied := s.last.At
	if s.emptiedAt.After(emptied) {
		emptied = s.emptiedAt
	}
	delay := time.Duration(now.UnixNano() - stamp)
	if stamp == 0 || delay < 0 || now.Add(-delay).Before(emptied.Add(-maxQueued)) {
		return time.Time{}
	}
	return now.Add(-delay)
}

func (s *socket) Write(p []byte) (int, error) {
	n, err := s.Conn.Write(p)
	s.accepted.Add(int64(n))
	return n, err
}

// eachRead is each without timestamps of the kernel.
func (s *socket) eachRead(onReceive func(p []byte) (done bool)) error {
	buffer := make([]byte, receiveSize)
	for {
		n, err := s.Conn.Read(buffer)
		if n > 0 {
			s.stampReceive(time.Now(), 0, n == len(buffer))
			if onReceive(buffer[:n]) {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// Read is for TLS.
func (s *socket) Read(p []byte) (n int, err error) {
	for len(s.unread) == 0 && len(p) > 0 {
		if err := s.each(func(got []byte) bool {
			n = copy(p, got)
			s.unread = append(s.unread[:0], got[n:]...)
			return true
		}); err != nil || n > 0 {
			return n, err
		}
	}
	n = copy(p, s.unread)
	s.unread = s.unread[n:]
	return n, nil
}
