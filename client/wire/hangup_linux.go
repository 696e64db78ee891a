//go:build linux && (amd64 || arm64)

package wire

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// hangups wakes sockets whose connections end, by an epoll for that alone: net's does not wake a socket that waits
// after a short receive for an end that came with the last bytes. The zero hangups is ready. It has a descriptor and a
// goroutine only while it has sockets.
type hangups struct {
	mu      sync.Mutex
	epoll   *os.File
	sockets map[uint64]*socket // by hangupID
	lastID  uint64
}

// add watches a socket over TCP. A socket that cannot be watched looks for its end itself.
func (h *hangups) add(s *socket) {
	if s.raw == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.epoll == nil && !h.start() {
		return
	}
	h.lastID++
	e := unix.EpollEvent{
		Events: unix.EPOLLRDHUP | unix.EPOLLET | unix.EPOLLONESHOT, Fd: int32(h.lastID >> 32), Pad: int32(h.lastID),
	}
	epoll, err := h.epoll.SyscallConn()
	if err != nil {
		return
	}
	s.raw.Control(func(fd uintptr) {
		epoll.Control(func(epfd uintptr) { err = unix.EpollCtl(int(epfd), unix.EPOLL_CTL_ADD, int(fd), &e) })
	})
	if err == nil {
		s.hangups, s.hangupID = h, h.lastID
		h.sockets[h.lastID] = s
	}
}

func (h *hangups) start() bool {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return false
	}
	unix.SetNonblock(fd, true) // so that os.File waits as it does for a socket
	h.epoll, h.sockets = os.NewFile(uintptr(fd), "epoll"), map[uint64]*socket{}
	go h.run(h.epoll)
	return true
}

func (h *hangups) remove(s *socket) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sockets, s.hangupID)
	if len(h.sockets) == 0 && h.epoll != nil {
		h.epoll.Close()
		h.epoll = nil
	}
}

func (h *hangups) run(epoll *os.File) {
	raw, err := epoll.SyscallConn()
	if err != nil {
		return
	}
	var events [64]unix.EpollEvent
	for {
		n := 0
		if raw.Read(func(fd uintptr) bool {
			n, err = unix.EpollWait(int(fd), events[:], 0)
			return n > 0 || err != nil && err != unix.EINTR
		}) != nil || err != nil && err != unix.EINTR {
			return
		}
		for _, e := range events[:max(n, 0)] {
			h.mu.Lock()
			s := h.sockets[uint64(uint32(e.Fd))<<32|uint64(uint32(e.Pad))]
			h.mu.Unlock()
			if s != nil {
				s.wake()
			}
		}
	}
}
