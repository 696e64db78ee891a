//go:build !linux

package selftest

import (
	"net"
	"time"
)

// monotonic returns a clock that all processes share, in nanoseconds: here the wall clock.
func monotonic() int64 { return time.Now().UnixNano() }

func nap(d time.Duration) { time.Sleep(d) }

type socket struct{ net.Conn }

func newSocket(c net.Conn) (*socket, error) { return &socket{c}, nil }

func (s *socket) write(b []byte) error {
	_, err := s.Conn.Write(b)
	return err
}
