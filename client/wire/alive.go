package wire

import (
	"net"
	"syscall"
)

// pulse asks the kernel about a socket. One goroutine at a time uses it.
type pulse struct {
	raw    syscall.RawConn // nil where there is no descriptor
	once   func(descriptor uintptr)
	closed bool // the peer has closed its side, or the connection is broken
	data   bool // there is something to read

	buffer lookBuffer // here and not on a stack, where it would be allocated for each call
}

func (p *pulse) init(c net.Conn) {
	if s, ok := c.(syscall.Conn); ok {
		p.raw, _ = s.SyscallConn()
	}
	p.once = p.look
}

// alive reports whether the peer has neither closed the connection nor, where it must not, sent anything. A server that
// sends without being asked is about to close: a 408, or TLS's close_notify. After a TLS handshake it may, though:
// session tickets. Where the kernel cannot be asked, a connection counts as alive.
func (p *pulse) alive(mayTalk bool) bool {
	if p.raw == nil {
		return true
	}
	if err := p.raw.Control(p.once); err != nil {
		return false // closed by this program
	}
	return !p.closed && (mayTalk || !p.data)
}
