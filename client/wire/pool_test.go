package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// classOf returns the innermost error's text.
func classOf(err error) string {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err.Error()
}

// accepting starts a server that accepts connections and keeps them until the test ends.
func accepting(t testing.TB) (address string, accepted func() []net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all []net.Conn
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			all = append(all, c)
			mu.Unlock()
		}
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
		for _, c := range all {
			c.Close()
		}
	})
	return l.Addr().String(), func() []net.Conn {
		mu.Lock()
		defer mu.Unlock()
		return append([]net.Conn(nil), all...)
	}
}

// No more than maxDials connections are made at once, however many are asked for. One that waits for its turn ends when
// it is cancelled.
func TestDialsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		p := NewPool("server", false, func(ctx context.Context, _, _ string) (net.Conn, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(2 * time.Second)
			near, _ := net.Pipe()
			return near, nil
		}, nil, 1, time.Minute)
		var wg sync.WaitGroup
		begin := time.Now()
		for range 1000 {
			wg.Go(func() {
				if _, err := p.Get(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Get(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		wg.Wait()
		if most.Load() != maxDials || time.Since(begin) != 8*time.Second {
			t.Errorf("%d at once, %v", most.Load(), time.Since(begin))
		}
	})
}

// Connections made ahead are returned newest first, as long as they are open.
func TestWarm(t *testing.T) {
	address, accepted := accepting(t)
	p := NewPool(address, false, nil, nil, 1, time.Minute)
	defer p.CloseIdle()
	for range 2 { // the second time there is nothing left to do
		if err := p.Warm(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
	}
	get := func(waited bool) net.Conn {
		t.Helper()
		c, err := p.Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if c.WasIdle() != waited {
			t.Errorf("made ahead: %v", !waited)
		}
		return c
	}
	first := get(true)
	until(t, func() bool { return len(accepted()) == 3 })
	for _, c := range accepted() {
		if c.RemoteAddr().String() != first.LocalAddr().String() {
			c.Close()
		}
	}
	for _, c := range p.idle { // the server's closing has come this far
		until(t, func() bool { return c.Ready() != nil })
	}
	get(false)
	if len(p.idle) != 0 {
		t.Errorf("%d dead connections kept", len(p.idle))
	}
	p = NewPool("127.0.0.1:1", false, nil, nil, 1, time.Minute)
	if err := p.Warm(t.Context(), 2); err == nil || classOf(err) != "connection refused" {
		t.Error(err)
	}
}

// Unused connections are closed after their time, or by CloseIdle.
func TestIdleConnectionsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var far []net.Conn
		var mu sync.Mutex
		p := NewPool("server", false, func(context.Context, string, string) (net.Conn, error) {
			a, b := net.Pipe()
			mu.Lock()
			defer mu.Unlock()
			far = append(far, b)
			return a, nil
		}, nil, 1, 4*time.Second)
		closed := func() (n int) {
			for _, c := range far {
				c.SetReadDeadline(time.Now())
				if _, err := c.Read(make([]byte, 1)); err == io.EOF {
					n++
				}
			}
			return n
		}
		for _, step := range []struct {
			wait         time.Duration
			warm, closed int
		}{{0, 2, 0}, {3 * time.Second, 5, 0}, {2 * time.Second, 0, 2}, {3 * time.Second, 0, 5}, {time.Second, 1, 5}} {
			time.Sleep(step.wait)
			if err := p.Warm(t.Context(), step.warm); err != nil {
				t.Fatal(err)
			}
			p.mu.Lock()
			idle := len(p.idle)
			p.mu.Unlock()
			if closed() != step.closed || step.warm > 0 && idle != step.warm {
				t.Errorf("%+v: %d closed, %d ready", step, closed(), idle)
			}
		}
		if p.CloseIdle(); closed() != 6 {
			t.Error("CloseIdle left one open")
		}
	})
}
