//go:build linux

package main

import (
	"io"
	"net"
	"syscall"
	"time"
	"unsafe"
)

// stamped reads a TCP connection and keeps when the kernel received the last byte read, whenever the program got round
// to reading it (SO_TIMESTAMPNS; wall clock).
type stamped struct {
	conn *net.TCPConn
	raw  syscall.RawConn
	fd   int
	at   int64 // ns since 1970
	oob  [64]byte
}

func newStamped(c *net.TCPConn) (*stamped, error) {
	s := &stamped{conn: c}
	var err error
	if s.raw, err = c.SyscallConn(); err != nil {
		return nil, err
	}
	return s, s.raw.Control(func(fd uintptr) { s.fd = int(fd) })
}

func (s *stamped) Read(b []byte) (n int, err error) {
	var oobn int
	e := s.raw.Read(func(fd uintptr) bool {
		n, oobn, _, _, err = syscall.Recvmsg(int(fd), b, s.oob[:], 0)
		return err != syscall.EAGAIN && err != syscall.EINTR
	})
	if e != nil {
		return 0, e
	}
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, io.EOF
	}
	s.at = stamp(s.oob[:oobn])
	return n, nil
}

// stamp finds the time in control messages, or takes the present one.
func stamp(oob []byte) int64 {
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err == nil {
		for _, m := range messages {
			if m.Header.Level == syscall.SOL_SOCKET && m.Header.Type == syscall.SCM_TIMESTAMPNS && len(m.Data) >= 16 {
				return (*syscall.Timespec)(unsafe.Pointer(&m.Data[0])).Nano()
			}
		}
	}
	unstamped.Add(1)
	return time.Now().UnixNano()
}
