//go:build linux && (amd64 || arm64)

package wire

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stamped asks the kernel for timestamps of packets and ignores a refusal. It is a net.Dialer's Control, which is called
// before the connection is established, so no packet arrives earlier.
func stamped(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) })
}

// receiver receives from TCP with recvmsg, which returns the kernel's timestamp.
type receiver struct {
	conn  net.Conn
	raw   syscall.RawConn               // nil where it is not TCP
	once  func(descriptor uintptr) bool // one for all calls
	empty time.Time                     // when there was last seen to be nothing

	// The arguments of the system call are here because they would escape from the stack and be allocated for each call.
	buf     []byte
	n       int
	errno   syscall.Errno
	message unix.Msghdr
	vector  unix.Iovec
	control [64]byte
}

func (r *receiver) init(c net.Conn) {
	r.conn = c
	if t, ok := c.(*net.TCPConn); ok {
		r.raw, _ = t.SyscallConn()
	}
	r.once = r.try
}

// receive reads once. The timestamp is in nanoseconds of the wall clock, 0 where there is none.
func (r *receiver) receive(p []byte) (n int, stamp int64, err error) {
	if r.raw == nil || len(p) == 0 {
		n, err = r.conn.Read(p)
		return n, 0, err
	}
	r.buf = p
	err = r.raw.Read(r.once) // waits where once says false; deadlines and Close end that
	r.buf, r.vector.Base = nil, nil
	switch {
	case err != nil:
		return 0, 0, err
	case r.errno != 0:
		return 0, 0, &net.OpError{
			Op: "read", Net: "tcp", Source: r.conn.LocalAddr(), Addr: r.conn.RemoteAddr(), Err: os.NewSyscallError("recvmsg", r.errno),
		}
	case r.n == 0:
		return 0, 0, io.EOF
	}
	return r.n, stampIn(r.control[:r.message.Controllen]), nil
}

// try receives without waiting. It returns false where there is nothing yet.
func (r *receiver) try(fd uintptr) bool {
	r.vector.Base = &r.buf[0]
	r.vector.SetLen(len(r.buf))
	for {
		r.message = unix.Msghdr{Iov: &r.vector, Control: &r.control[0]}
		r.message.SetIovlen(1)
		r.message.SetControllen(len(r.control))
		n, _, errno := unix.Syscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&r.message)), unix.MSG_DONTWAIT)
		switch errno {
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			r.empty = time.Now()
			return false
		case 0:
			r.n, r.errno = int(n), 0
			if raceDetector { // which knows this call, and learns from it that the sender's writes happened before
				syscall.Read(int(fd), nil)
			}
		default:
			r.n, r.errno = 0, errno
		}
		return true
	}
}

// stampIn returns the kernel's timestamp in control messages, a timespec of two 64-bit numbers; 0 where there is none.
func stampIn(oob []byte) int64 {
	for len(oob) >= unix.SizeofCmsghdr {
		h, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			return 0
		}
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SO_TIMESTAMPNS && len(data) >= 16 {
			seconds, nanos := binary.NativeEndian.Uint64(data), binary.NativeEndian.Uint64(data[8:])
			return int64(seconds)*int64(time.Second) + int64(nanos)
		}
		oob = rest
	}
	return 0
}

// alive reports whether the other side has kept the connection open and, unless mayTalk, has sent nothing.
func (r *receiver) alive(mayTalk bool) bool {
	if r.raw == nil {
		return true
	}
	alive := false
	err := r.raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		alive = err == unix.EAGAIN || mayTalk && n > 0
	})
	return alive && err == nil
}
