package client

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// dropper is a connection that the kernel knows nothing of, and whose writes fail when it is told.
type dropper struct {
	net.Conn
	fail    *atomic.Bool
	accepts int // bytes of the write that fails
}

func (d *dropper) Write(p []byte) (int, error) {
	if !d.fail.CompareAndSwap(true, false) {
		return d.Conn.Write(p)
	}
	n, _ := d.Conn.Write(p[:d.accepts])
	return n, errors.New("the write failed")
}

// A write that failed is made again on another connection if nothing of it was accepted, and never if a single byte
// was.
func TestFailedWrite(t *testing.T) {
	for accepts, want := range []Class{"", ClassReset} {
		s := serveTCP(t, false, func(*serverConn, int) bool { return true })
		var fail atomic.Bool
		c := newClient(t, Options{URL: s.url, Dial: func(ctx context.Context, n, a string) (net.Conn, error) {
			conn, err := unstamped(ctx, n, a)
			return &dropper{conn, &fail, accepts}, err
		}})
		if r := doWith(t, t.Context(), c); r.Status != StatusOK {
			t.Fatal(r.Message)
		}
		fail.Store(true)
		r := doWith(t, t.Context(), c)
		conns, received := s.seen()
		if r.Class != want || r.Status == StatusIncomplete {
			t.Errorf("%d bytes accepted: %s %s %s", accepts, r.Status, r.Class, r.Message)
		}
		if again := accepts == 0; (r.Resent == 1) != again || (r.Dial > 0) != again || (conns == 2) != again ||
			(received == 2) != again {
			t.Errorf("%d bytes accepted: sent again %d times, dial %v, %d connections, %d requests", accepts, r.Resent, r.Dial,
				conns, received)
		}
		if r.Sent == Absent || r.Sent < r.Dial || r.End < r.Sent {
			t.Errorf("sent %v, dial %v, end %v", r.Sent, r.Dial, r.End)
		}
		// Alone on a fresh connection it is a failure, whatever was accepted: the next one would fare no better.
		c.CloseIdle()
		fail.Store(true)
		if r = doWith(t, t.Context(), c); r.Class != ClassReset || r.Resent != 0 || (r.Sent == Absent) != (accepts == 0) {
			t.Errorf("%d bytes accepted on a fresh connection: %s, sent %v, again %d times", accepts, r.Class, r.Sent, r.Resent)
		}
	}
}

// A server that closes each connection after two answers without announcing it (llama.cpp does after one) fails no
// request: the client learns the number, and is the first to close from then on.
func TestHabitIsLearned(t *testing.T) {
	const most = 2
	s := serveTCP(t, false, func(c *serverConn, n int) bool {
		if n < most {
			return true
		}
		cutAfter(answer)(c, true)
		return false
	})
	c := newClient(t, Options{URL: s.url, MaxConns: 8})
	deadline := time.Now().Add(10 * time.Second)
	sent, lost := 0, 0
	for ; c.pool.MaxRequests() == 0; sent++ { // one after the other, as in a warm-up
		r := doWith(t, t.Context(), c)
		if r.Status != StatusOK && r.Class != ClassReset || time.Now().After(deadline) {
			t.Fatalf("%s %s", r.Class, r.Message)
		}
		if r.Class == ClassReset { // it may have been written while the server closed: then the server has not read it
			lost++
		}
		time.Sleep(5 * time.Millisecond)
	}
	if n := c.pool.MaxRequests(); n != most {
		t.Fatalf("learned %d", n)
	}
	c.CloseIdle()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				if r := doWith(t, t.Context(), c); r.Status != StatusOK || r.Resent != 0 {
					t.Errorf("%s %s, sent again %d times", r.Class, r.Message, r.Resent)
				}
			}
		})
	}
	wg.Wait()
	if _, received := s.seen(); received > sent+200 || received < sent+200-lost {
		t.Errorf("%d requests received, %d sent, %d of them reset", received, sent+200, lost)
	}
}

// A connection is reused after an answer, and after a refusal.
func TestReuse(t *testing.T) {
	s := serveTCP(t, false, func(c *serverConn, n int) bool {
		if n == 2 {
			c.read()
			c.Write([]byte("HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno"))
		}
		return true
	})
	c := newClient(t, Options{URL: s.url, MaxConns: 4})
	for i := range 6 {
		if r := doWith(t, t.Context(), c); (r.Dial > 0) != (i == 0) || (r.Status == StatusOK) != (i != 1) {
			t.Errorf("request %d: dial %v, %s", i, r.Dial, summary(r))
		}
	}
	if conns, received := s.seen(); conns != 1 || received != 6 {
		t.Errorf("%d connections, %d requests", conns, received)
	}
}
