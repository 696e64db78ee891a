// A network inside this process, for servers in virtual time.

package testkit

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"
)

// Dial makes connections, as net.Dialer does.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// ServePipes serves h over pipes until the test ends; call it inside a bubble of synctest. Handlers that still run then
// have a minute to come to their end.
func ServePipes(t testing.TB, h http.Handler) Dial {
	p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	s := &http.Server{Handler: h}
	go s.Serve(p)
	t.Cleanup(func() {
		s.Close()
		time.Sleep(time.Minute)
	})
	return p.dial
}

type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
