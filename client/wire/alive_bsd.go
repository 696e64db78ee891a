//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package wire

import "golang.org/x/sys/unix"

// look peeks at the next byte without waiting. It does not see a FIN behind bytes that have not been read.
func (p *pulse) look(fd uintptr) {
	n, _, err := unix.Recvfrom(int(fd), p.buffer[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	switch err {
	case nil:
		p.closed, p.data = n == 0, n > 0
	case unix.EAGAIN, unix.EINTR:
		p.closed, p.data = false, false
	default:
		p.closed, p.data = true, false
	}
}

// lookBuffer is what the system call writes to.
type lookBuffer [1]byte
