//go:build !linux

package selftest

import (
	"net"
	"time"
)

// monotonic returns a clock that all processes share, in nanoseconds: here the wall clock.
func monotonic() int64 { return time.Now().UnixNano() }

// nap sleeps.
func nap(d time.Duration) { time.Sleep(d) }

// ListenPaced listens on a TCP address.
func ListenPaced(address string) (net.Listener, error) { return net.Listen("tcp", address) }

// socket is a connection that knows when it was read last.
type socket struct {
	net.Conn
	counts *counts
	at     time.Time
}

func newSocket(c net.Conn, n *counts) (*socket, error) { return &socket{Conn: c, counts: n}, nil }

// Read reads and remembers the time.
func (s *socket) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	s.at = time.Now()
	s.counts.unstamped.Add(1)
	return n, err
}

// write writes b.
func (s *socket) write(b []byte) error {
	_, err := s.Conn.Write(b)
	return err
}
