// Package wire is the connection below net/http: it dials, and it notes when a request's first byte is written, which
// net/http does not tell. It never looks into the bytes.
package wire

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"
)

const (
	dialTimeout = 30 * time.Second // a host that drops packets must not hold a request for its whole time limit
	keepAlive   = 30 * time.Second
)

// DialFunc connects; it is what an http.Transport calls DialContext.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Dialer returns a DialFunc whose connections are Conns over those that dial makes; nil dials as net does.
func Dialer(dial DialFunc) DialFunc {
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &Conn{Conn: c}, nil
	}
}

// Conn is a connection that tells the request it carries when its bytes go out.
type Conn struct {
	net.Conn
	watch atomic.Pointer[Watch]
}

// Of finds the Conn below what httptrace.GotConnInfo holds; nil where there is none.
func Of(c net.Conn) *Conn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	w, _ := c.(*Conn)
	return w
}

// Attach makes w the watch of the request that the connection is about to carry.
func (c *Conn) Attach(w *Watch) {
	w.sent.Store(nil)
	c.watch.Store(w)
}

// Write writes, and stamps the request's first byte just before it goes: after the call the answer may be here already.
func (c *Conn) Write(p []byte) (int, error) {
	if w := c.watch.Load(); w != nil {
		w.note()
	}
	return c.Conn.Write(p)
}

// Watch is one request's view of its connection. The zero Watch is ready. net/http writes from a goroutine of its
// own, so a Watch may be read at any time.
type Watch struct {
	sent atomic.Pointer[time.Time]
}

func (w *Watch) note() {
	if w.sent.Load() == nil {
		now := time.Now()
		w.sent.Store(&now)
	}
}

// Sent is when the request's first byte was written; false before that.
func (w *Watch) Sent() (time.Time, bool) {
	if t := w.sent.Load(); t != nil {
		return *t, true
	}
	return time.Time{}, false
}
