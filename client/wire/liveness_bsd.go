//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package wire

import "golang.org/x/sys/unix"

// look does not see a FIN behind bytes that have not been read.
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

type peekBuffer [1]byte
