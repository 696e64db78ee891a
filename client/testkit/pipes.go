package testkit

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// ServePipes serves h over pipes until the test ends, for virtual time: call it inside a bubble of synctest. Handlers
// that still run then have a minute to end.
func ServePipes(
	t testing.TB, h http.Handler,
) (dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	p := NewPipes()
	s := &http.Server{Handler: h}
	go s.Serve(p)
	t.Cleanup(func() {
		s.Close()
		time.Sleep(time.Minute)
	})
	return p.Dial
}

// Pipes is a listener whose connections are pipes, a network inside this process.
type Pipes struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

// NewPipes returns a listener.
func NewPipes() *Pipes { return &Pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

// Accept implements [net.Listener].
func (p *Pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (p *Pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

// Addr implements [net.Listener].
func (p *Pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// Dial connects to the listener, as [net.Dialer.DialContext] does.
func (p *Pipes) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
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
