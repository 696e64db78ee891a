//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package wire

import "golang.org/x/sys/unix"

// look peeks at the next byte without waiting. It does not see a FIN behind bytes that have not been read.
func (l *liveness) look(fd uintptr) {
	n, _, err := unix.Recvfrom(int(fd), l.buffer[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	switch err {
	case nil:
		l.closed, l.data = n == 0, n > 0
	case unix.EAGAIN, unix.EINTR:
		l.closed, l.data = false, false
	default:
		l.closed, l.data = true, false
	}
}

// peekBuffer is what the system call writes to.
type peekBuffer [1]byte
