package wire

import "golang.org/x/sys/unix"

// look does not wait. POLLRDHUP sees a FIN behind bytes that have not been read.
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

type peekBuffer [1]unix.PollFd
