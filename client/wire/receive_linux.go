//go:build linux && (amd64 || arm64)

package wire

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// enableTimestamps asks the kernel for timestamps of packets and ignores a refusal. It is a net.Dialer's Control: no
// packet arrives earlier.
func enableTimestamps(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) })
}

// receiver receives from TCP with recvmsg, which returns the kernel's timestamp.
type receiver struct {
	socket     *socket
	raw        syscall.RawConn               // nil where it is not TCP
	onReadable func(descriptor uintptr) bool // r.receive, allocated once
	onReceive  func(p []byte) (done bool)
	err        error
}

func (r *receiver) init(s *socket) {
	r.socket = s
	if t, ok := s.Conn.(*net.TCPConn); ok {
		r.raw, _ = t.SyscallConn()
	}
	r.onReadable = r.receive
}

// receiveBuffer is pooled: few are in use at a time, so that they stay in the processor's cache, and the arguments of
// the system call are not allocated for each call.
type receiveBuffer struct {
	message unix.Msghdr
	vector  unix.Iovec
	control [64]byte
	buffer  [receiveSize]byte
}

var receiveBuffers = sync.Pool{New: func() any {
	in := &receiveBuffer{}
	in.vector.Base = &in.buffer[0]
	return in
}}

// each calls onReceive with the bytes of each receive, until it returns true.
func (s *socket) each(onReceive func(p []byte) (done bool)) error {
	if s.raw == nil {
		return s.eachRead(onReceive)
	}
	s.onReceive, s.err = onReceive, nil
	err := s.raw.Read(s.onReadable) // waits where it returns false; deadlines and Close end that
	for err != nil && s.wasWoken(err) {
		err = s.raw.Read(s.onReadable)
	}
	s.onReceive = nil
	if err == nil {
		err = s.err
	}
	return err
}

// receive returns false where the socket is empty: after a receive that did not fill the buffer, too, because the next
// bytes wake this program. An end of the connection that came with the last bytes would not; [hangups] sees to that.
func (r *receiver) receive(fd uintptr) (done bool) {
	in := receiveBuffers.Get().(*receiveBuffer)
	defer receiveBuffers.Put(in)
	s := r.socket
	for {
		n, errno := in.recvmsg(fd)
		switch {
		case errno == unix.EAGAIN:
			s.emptiedAt = time.Now()
			return false
		case errno != 0:
			r.err = &net.OpError{
				Op: "read", Net: "tcp", Source: s.LocalAddr(), Addr: s.RemoteAddr(), Err: os.NewSyscallError("recvmsg", errno),
			}
			return true
		case n == 0:
			r.err = io.EOF
			return true
		}
		full := n == len(in.buffer)
		s.stampReceive(time.Now(), kernelStamp(in.control[:in.message.Controllen]), full)
		if r.onReceive(in.buffer[:n]) {
			return true
		}
		if !full && s.hangups != nil && !s.hungUp.Load() {
			return false
		}
	}
}

func (in *receiveBuffer) recvmsg(fd uintptr) (n int, errno syscall.Errno) {
	for {
		in.vector.SetLen(len(in.buffer))
		in.message = unix.Msghdr{Iov: &in.vector, Control: &in.control[0]}
		in.message.SetIovlen(1)
		in.message.SetControllen(len(in.control))
		n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&in.message)), unix.MSG_DONTWAIT)
		if errno == unix.EINTR {
			continue
		}
		if raceDetector && errno == 0 { // it learns from this call that the sender's writes happened before
			syscall.Read(int(fd), nil)
		}
		return int(n), errno
	}
}

// kernelStamp returns the timestamp in control messages, a timespec of two 64-bit numbers; 0 for none.
func kernelStamp(oob []byte) int64 {
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
