package wire

import (
	"context"
	"crypto/tls"
	"net"
)

// Stamped is a connection that knows when the bytes of its last Read arrived, as a [Conn] does, and nothing of what it carries. One
// goroutine at a time may read, and another may write.
type Stamped struct {
	net.Conn // the socket, or TLS over it
	socket   *socket
}

// DialStamped connects over TCP, with TLS where conf is not nil.
func DialStamped(ctx context.Context, address string, conf *tls.Config) (*Stamped, error) {
	d := net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive, Control: stamped}
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Stamped{socket: newSocket(c)}
	s.Conn = s.socket
	if conf == nil {
		return s, nil
	}
	over := tls.Client(s.socket, conf)
	if err := over.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, err
	}
	s.Conn = over
	return s, nil
}

// Listen asks the kernel for timestamps of what arrives on the connections that l accepts. It ignores a refusal.
func Listen(l net.Listener) {
	if t, ok := l.(*net.TCPListener); ok {
		if raw, err := t.SyscallConn(); err == nil {
			stamped("", "", raw)
		}
	}
}

// Accepted returns a connection that a client made.
func Accepted(c *net.TCPConn) *Stamped {
	s := &Stamped{socket: newSocket(c)}
	s.Conn = s.socket
	return s
}

// Latest returns the receive that brought the last bytes. Its End is not known.
func (s *Stamped) Latest() Receive { return s.socket.last }

// CloseWrite tells the other end that nothing more will come; it may still send.
func (s *Stamped) CloseWrite() error {
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return s.socket.Conn.(*net.TCPConn).CloseWrite()
}

// Reset makes Close break the connection off, as a program that dies does.
func (s *Stamped) Reset() { s.socket.Conn.(*net.TCPConn).SetLinger(0) }
