package selftest

import (
	"errors"
	"net"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil { // never on Linux
		return time.Now().UnixNano()
	}
	return t.Nano()
}

// nap sleeps in a system call: Go's timers are late by up to a millisecond, because they wait in epoll. A nap of less
// than a millisecond is not announced to the scheduler, which would wake another thread to take over.
func nap(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	if d < time.Millisecond {
		syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
		return
	}
	syscall.Nanosleep(&t, nil)
}

// socket is a TCP connection that is written without the detour through Go's poller.
type socket struct {
	net.Conn
	fd int
}

func newSocket(c net.Conn) (*socket, error) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return nil, errors.New("not a TCP connection")
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &socket{Conn: c}
	return s, raw.Control(func(fd uintptr) { s.fd = int(fd) })
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
	_, err = s.Conn.Write(b[max(n, 0):])
	return err
}
