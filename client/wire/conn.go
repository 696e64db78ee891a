// Package wire is the connection below net/http. It dials, and it records what net/http does not: when a request's first
// byte was written, and when each byte of the answer's body arrived, by the kernel's timestamps where there are any. Of
// the data it reads only the HTTP framing.
package wire

import (
	"crypto/tls"
	"io"
	"net"
	"sync/atomic"
)

// Conn is a connection that timestamps the bytes of the request that it carries.
type Conn struct {
	net.Conn             // the socket, or TLS over it
	socket   *socket     // what receives, below
	ahead    bool        // made ahead of need
	habit    *habit      // of the server; nil where it is not needed
	ended    error       // what ended reading
	shut     atomic.Bool // this program closed it
	reuse    reuse
}

// wrap returns a Conn over a new connection.
func wrap(c net.Conn) *Conn {
	conn := &Conn{socket: newSocket(c)}
	conn.Conn, conn.socket.above = conn.socket, conn
	return conn
}

// find returns the Conn in or below the connection in httptrace.GotConnInfo, and whether its data can be read: net/http
// itself puts TLS over a connection only where there is a proxy.
func find(c net.Conn) (conn *Conn, plain bool) {
	if t, ok := c.(*tls.Conn); ok {
		conn, _ = t.NetConn().(*Conn)
		return conn, false
	}
	conn, _ = c.(*Conn)
	return conn, true
}

// Ahead reports whether c was dialled by Warm. The server may have closed it since then, as any idle connection.
func Ahead(c net.Conn) bool {
	conn, _ := find(c)
	return conn != nil && conn.ahead
}

// Read reads, and reports the bytes to the request that the connection carries at the time of their arrival. net/http
// begins to read before there is a request. After the last answer that the server allows on the connection, Read reports the
// end, so that net/http does not keep the connection.
func (c *Conn) Read(p []byte) (int, error) {
	if c.ended != nil { // the kernel tells of a reset once, and net/http may overlook it while it reads headers
		return 0, c.ended
	}
	n, err := c.Conn.Read(p)
	if n > 0 {
		if w := c.socket.watch.Load(); w == nil {
			c.unasked()
		} else if w.received(c.socket, p[:n]) && c.full() {
			c.ended = io.EOF
			return n, io.EOF
		}
	}
	if err != nil && !timedOut(err) {
		c.ended = err
		c.left(err)
	}
	return n, err
}

// Close closes the connection.
func (c *Conn) Close() error {
	c.shut.Store(true)
	return c.Conn.Close()
}

// Write writes a part of a request.
func (c *Conn) Write(p []byte) (int, error) {
	w := c.socket.watch.Load()
	if w == nil {
		c.wroteOther()
		return c.Conn.Write(p)
	}
	before := w.progress()
	c.socket.asking.Store(true)
	n, err := c.Conn.Write(p)
	c.socket.asking.Store(false)
	if n == 0 && err == net.ErrClosed && c.secured() {
		w.restore(c.socket, before) // TLS took nothing: what it wrote meanwhile was its close_notify
	}
	return n, err
}
