package wire

import (
	"net"
	"syscall"
)

// liveness asks the kernel about a socket. One goroutine at a time uses it.
type liveness struct {
	raw      syscall.RawConn          // nil where there is no descriptor
	lookFunc func(descriptor uintptr) // l.look, allocated once
	closed   bool                     // the peer has closed its side, or the connection is broken
	data     bool                     // there is something to read

	buffer peekBuffer // a local variable would be allocated for each call
}

func (l *liveness) init(c net.Conn) {
	if s, ok := c.(syscall.Conn); ok {
		l.raw, _ = s.SyscallConn()
	}
	l.lookFunc = l.look
}

// alive reports whether the peer has neither closed the connection nor sent anything, unless it may. A server that
// sends without a request is about to close: a 408, or TLS's close_notify. After a TLS handshake it may send session
// tickets. Where the kernel cannot be asked, a connection counts as alive.
func (l *liveness) alive(maySend bool) bool {
	if l.raw == nil {
		return true
	}
	if err := l.raw.Control(l.lookFunc); err != nil {
		return false // closed by this program
	}
	return !l.closed && (maySend || !l.data)
}
