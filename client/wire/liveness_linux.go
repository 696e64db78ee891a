package wire

import "golang.org/x/sys/unix"

// look asks the kernel, without waiting, whether the peer has closed its side and whether there is something to read.
// POLLRDHUP sees a FIN behind bytes that have not been read.
func (l *liveness) look(fd uintptr) {
	l.buffer[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN | unix.POLLRDHUP}
	for {
		n, err := unix.Poll(l.buffer[:], 0)
		if err == unix.EINTR {
			continue
		}
		got := l.buffer[0].Revents
		l.closed = err == nil && n > 0 && got&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
		l.data = err == nil && n > 0 && got&unix.POLLIN != 0
		return
	}
}

// peekBuffer is what the system call reads and writes.
type peekBuffer [1]unix.PollFd
