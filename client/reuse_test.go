package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/api"
)

// Many requests at once on a server that breaks connections at random moments: no request reaches it twice, and every
// request that it has not answered is counted as a failure.
func TestNoRequestIsReceivedTwice(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS %v", secure), func(t *testing.T) {
			var mu sync.Mutex
			dice := rand.New(rand.NewPCG(1, 2))
			s := serveTCP(t, secure, func(c *serverConn, _ int) bool {
				mu.Lock()
				what, orderly := dice.IntN(20), dice.IntN(2) == 0
				mu.Unlock()
				if what == 0 { // unread
					c.cut(orderly)
				} else if said := []string{"", "", chunkedHead[:20], chunkedHead + chunk(events("A")), answer}; what < len(said) {
					cutAfter(said[what])(c, orderly)
				} else {
					return true
				}
				return false
			})
			c := newClient(t, Options{URL: s.url, Insecure: true, MaxConns: 8,
				Headers: http.Header{"Idempotency-Key": {"1"}}})
			const workers = 8
			each := 40
			if secure { // handshakes take time
				each = 15
			}
			var done, failed atomic.Int64
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					for i := range each {
						r := send(t, c, t.Context(), &api.Request{OutputTokens: 4,
							Messages: []api.Message{{Role: "user", Content: fmt.Sprint(w, "/", i)}}})
						switch {
						case r.Status == StatusOK:
							done.Add(1)
						case r.Class == ClassReset || r.Class == ClassTruncated:
							failed.Add(1)
						default:
							t.Errorf("%s %s", r.Class, r.Message)
						}
					}
				})
			}
			wg.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			for body, n := range s.bodies {
				if n > 1 {
					t.Errorf("received %d times: %s", n, body)
				}
			}
			if int(done.Load()+failed.Load()) != workers*each || s.received > workers*each || int(done.Load()) > s.received {
				t.Errorf("%d done, %d failed, %d received", done.Load(), failed.Load(), s.received)
			}
		})
	}
}

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

// What a server sends on an idle connection before it closes it, such as a 408, is no answer to the next request.
func TestUnaskedAnswer(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := serveTCP(t, secure, func(*serverConn, int) bool { return true })
		c := newClient(t, Options{URL: s.url, Insecure: true})
		doWith(t, t.Context(), c)
		r := doWith(t, hold(func(n int) {
			if n == 1 {
				s.each(func(c *serverConn) { io.WriteString(c, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n") })
				// the check before the write cannot see bytes that the reader is receiving at that moment
				time.Sleep(time.Millisecond)
			}
		}), c)
		if _, received := s.seen(); r.Status != StatusOK || r.Resent != 1 || received != 2 {
			t.Errorf("TLS %v: %s %s, sent again %d times, %d requests", secure, r.Class, r.Message, r.Resent, received)
		}
	}
}

// A connection made ahead of need that the server has closed is replaced, whether that is seen when it is taken or just
// before the write.
func TestWarmConnectionsClosed(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for _, late := range []bool{false, true} {
			s := serveTCP(t, secure, func(*serverConn, int) bool { return true })
			c := newClient(t, Options{URL: s.url, Insecure: true, MaxConns: 3})
			if err := c.Warm(t.Context(), 3); err != nil {
				t.Fatal(err)
			}
			for conns, _ := s.seen(); conns < 3; conns, _ = s.seen() {
				time.Sleep(time.Millisecond)
			}
			shut := func() { s.each(func(c *serverConn) { c.cut(true) }) }
			if !late {
				shut()
			}
			r := doWith(t, hold(func(n int) {
				if late && n == 1 {
					shut()
				}
			}), c)
			conns, received := s.seen()
			if r.Status != StatusOK || conns != 4 || received != 1 || (r.Resent == 0) == late || r.Dial == 0 {
				t.Errorf("TLS %v, late %v: %s %s, %d connections, %d requests, sent again %d times, dial %v",
					secure, late, r.Class, r.Message, conns, received, r.Resent, r.Dial)
			}
		}
	}
}

// A server's Keep-Alive header is believed: a connection is given up before the server closes it.
func TestKeepAliveHeader(t *testing.T) {
	for _, tt := range []struct {
		header string
		pauses []time.Duration // before each request
		conns  int
	}{
		{"", []time.Duration{0, 900 * ms, 900 * ms, 900 * ms}, 1},
		{"timeout=3", []time.Duration{0, 1900 * ms, 1900 * ms}, 1},
		{"timeout=3", []time.Duration{0, 2100 * ms, 2100 * ms}, 3},
		{"timeout=1", []time.Duration{0, 400 * ms, 600 * ms}, 2},
		{"timeout=5, max=2", []time.Duration{0, 0, 0, 0, 0}, 3},
		{"max=4", []time.Duration{0, 0, 0, 0}, 1},
		{`Timeout="1" , Max="1"`, []time.Duration{0, 0}, 2},
		{"timeout=soon, max=-1, =, ,max", []time.Duration{0, 900 * ms}, 1},
		{"timeout=75", []time.Duration{0, 3900 * ms, 4100 * ms}, 2}, // longer than connections are kept here
	} {
		t.Run(tt.header, func(t *testing.T) {
			conns := 0
			inVirtualTime(t, func(w http.ResponseWriter, r *http.Request) {
				if tt.header != "" {
					w.Header().Set("Keep-Alive", tt.header)
				}
				io.WriteString(w, events("A finish [DONE]"))
			}, Options{Dial: func(context.Context, string, string) (net.Conn, error) {
				conns++
				return nil, nil
			}}, func(t *testing.T, c *Client) {
				for _, pause := range tt.pauses {
					time.Sleep(pause)
					if r := doWith(t, t.Context(), c); r.Status != StatusOK || r.Resent != 0 || r.Sent != 0 {
						t.Errorf("%s %s, sent %v, again %d times", r.Class, r.Message, r.Sent, r.Resent)
					}
					synctest.Wait()
				}
			})
			if conns != tt.conns {
				t.Errorf("%d connections", conns)
			}
		})
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

// A server that reads a request, works on it and drops the connection, every third time: each loss is a reset, is seen
// by the server once, and takes the server's time and not the client's.
func TestDroppedWork(t *testing.T) {
	const work = 500 * time.Millisecond
	requests := 0
	inVirtualTime(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if requests++; requests%3 == 0 {
			time.Sleep(work)
			panic(http.ErrAbortHandler)
		}
		time.Sleep(100 * ms)
		io.WriteString(w, events("A finish [DONE]"))
	}, Options{}, func(t *testing.T, c *Client) {
		for i := range 30 {
			r := doWith(t, t.Context(), c)
			dropped := i%3 == 2
			switch {
			case r.Resent != 0 || r.Sent != 0 || requests != i+1:
				t.Errorf("request %d: sent %v, again %d times, the server has %d", i, r.Sent, r.Resent, requests)
			case dropped && (r.Class != ClassReset || r.End != work):
				t.Errorf("request %d: %s at %v: %s", i, r.Class, r.End, r.Message)
			case !dropped && (r.Status != StatusOK || r.FirstToken != 100*ms):
				t.Errorf("request %d: %s %s", i, r.Class, r.Message)
			}
		}
	})
}
