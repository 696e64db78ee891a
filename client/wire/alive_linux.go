package wire

import "golang.org/x/sys/unix"

// look asks the kernel, without waiting, whether the peer has closed its side and whether there is something to read.
// POLLRDHUP sees a FIN behind bytes that have not been read.
func (p *pulse) look(fd uintptr) {
	p.buffer[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN | unix.POLLRDHUP}
	for {
		n, err := unix.Poll(p.buffer[:], 0)
		if err == unix.EINTR {
			continue
		}
		got := p.buffer[0].Revents
		p.closed = err == nil && n > 0 && got&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
		p.data = err == nil && n > 0 && got&unix.POLLIN != 0
		return
	}
}

// lookBuffer is what the system call reads and writes.
type lookBuffer [1]unix.PollFd
