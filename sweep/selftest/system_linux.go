package selftest

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// monotonic returns the system's monotonic clock in nanoseconds.
func monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil { // never on Linux
		return time.Now().UnixNano()
	}
	return t.Nano()
}

// nap sleeps in a system call: Go's timers are late by up to a millisecond, because they wait in epoll. A nap of less than a
// millisecond is not announced to the scheduler, which would wake another thread to take over.
func nap(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	if d < time.Millisecond {
		syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
		return
	}
	syscall.Nanosleep(&t, nil)
}

// ListenPaced listens on a TCP address. Connections inherit the kernel's receive timestamps (SO_TIMESTAMPNS), so that they are on
// before the first request arrives.
func ListenPaced(address string) (net.Listener, error) {
	c := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		e := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
		})
		return errors.Join(e, err)
	}}
	return c.Listen(context.Background(), "tcp", address)
}

// socket is a TCP connection that knows when the kernel received what was read last, however late it was read. It is written
// without the detour through Go's poller.
type socket struct {
	net.Conn
	counts *counts
	raw    syscall.RawConn
	fd     int
	at     time.Time // of the last byte read; wall clock
	oob    [64]byte
}

func newSocket(c net.Conn, n *counts) (*socket, error) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil, errors.New("not a TCP connection")
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &socket{Conn: c, counts: n, raw: raw}
	return s, raw.Control(func(fd uintptr) { s.fd = int(fd) })
}

// Read reads and remembers the timestamp.
func (s *socket) Read(b []byte) (n int, err error) {
	var oobn int
	e := s.raw.Read(func(fd uintptr) bool {
		n, oobn, _, _, err = syscall.Recvmsg(int(fd), b, s.oob[:], 0)
		return err != syscall.EAGAIN && err != syscall.EINTR
	})
	switch {
	case e != nil:
		return 0, e
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	stamp, ok := timestamp(s.oob[:oobn])
	if !ok {
		s.counts.unstamped.Add(1)
		stamp = time.Now()
	}
	s.at = stamp
	return n, nil
}

// timestamp returns the time in a control message.
func timestamp(oob []byte) (t time.Time, ok bool) {
	messages, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return t, false
	}
	for _, m := range messages {
		if m.Header.Level == syscall.SOL_SOCKET && m.Header.Type == syscall.SCM_TIMESTAMPNS && len(m.Data) >= int(unsafe.Sizeof(syscall.Timespec{})) {
			return time.Unix((*syscall.Timespec)(unsafe.Pointer(&m.Data[0])).Unix()), true
		}
	}
	return t, false
}

// write writes b. Where the socket's buffer is full, which a client that reads never lets happen, it waits.
func (s *socket) write(b []byte) error {
	n, err := syscall.Write(s.fd, b)
	if n == len(b) {
		return nil
	}
	if err != nil && err != syscall.EAGAIN && err != syscall.EINTR {
		return err
	}
	s.counts.blocked.Add(1)
	_, err = s.Conn.Write(b[max(n, 0):])
	return err
}
