package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"llmsweep/client/api"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Many requests at once on a server that breaks connections at random moments: no request reaches it twice, and every
// request that it has not answered is counted as a failure.
func TestNoRequestIsReceivedTwice(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS %v", secure), func(t *testing.T) {
			var mu sync.Mutex
			dice := rand.New(rand.NewPCG(1, 2))
			s := serveFaults(t, secure, func(c *faultyConn, _ int) bool {
				mu.Lock()
				what, orderly := dice.IntN(20), dice.IntN(2) == 0
				mu.Unlock()
				switch what {
				case 0: // unread
				case 1:
					c.read()
				case 2:
					c.read()
					io.WriteString(c, truthHead[:20])
				case 3:
					c.read()
					io.WriteString(c, truthHead+chunk(events(chunkA)))
				case 4: // answered, but not kept
					c.read()
					io.WriteString(c, answer)
				default:
					return true
				}
				c.cut(orderly)
				return false
			})
			c, err := New(Options{URL: s.url, Insecure: true, MaxConns: 8, Headers: http.Header{"Idempotency-Key": {"1"}}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.CloseIdle()
			const workers = 8
			each := 100
			if secure { // handshakes take time
				each = 40
			}
			var done, failed, resent atomic.Int64
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					for i := range each {
						call, err := c.Prepare(&api.Request{Messages: []api.Message{{Role: "user", Content: fmt.Sprint(w, "/", i)}},
							OutputTokens: 4})
						if err != nil {
							t.Error(err)
							return
						}
						var r Result
						r.Reset(time.Now())
						c.Do(t.Context(), call, &r)
						resent.Add(int64(r.Resent))
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
			t.Logf("%d done, %d failed, %d received, %d sent again", done.Load(), failed.Load(), s.received, resent.Load())
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
	for accepts, want := range map[int]outcome{
		0: {Status: StatusOK},
		1: {Status: StatusError, Class: ClassReset},
	} {
		s := serveFaults(t, false, func(*faultyConn, int) bool { return true })
		var fail atomic.Bool
		c, err := New(Options{URL: s.url, Dial: func(ctx context.Context, n, a string) (net.Conn, error) {
			conn, err := unstamped(ctx, n, a)
			return &dropper{conn, &fail, accepts}, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseIdle()
		if r := doWith(t, t.Context(), c); r.Status != StatusOK {
			t.Fatal(r.Message)
		}
		fail.Store(true)
		r := doWith(t, t.Context(), c)
		conns, received := s.seen()
		if r.Status != want.Status || r.Class != want.Class {
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
		s := serveFaults(t, secure, func(*faultyConn, int) bool { return true })
		c, err := New(Options{URL: s.url, Insecure: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseIdle()
		doWith(t, t.Context(), c)
		r := doWith(t, hold(func(n int) {
			if n == 1 {
				s.each(func(c *faultyConn) { io.WriteString(c, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n") })
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
			s := serveFaults(t, secure, func(*faultyConn, int) bool { return true })
			c, err := New(Options{URL: s.url, Insecure: true, MaxConns: 3})
			if err != nil {
				t.Fatal(err)
			}
			defer c.CloseIdle()
			if err := c.Warm(t.Context(), 3); err != nil {
				t.Fatal(err)
			}
			for conns, _ := s.seen(); conns < 3; conns, _ = s.seen() {
				time.Sleep(time.Millisecond)
			}
			shut := func() { s.each(func(c *faultyConn) { c.cut(true) }) }
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
	for name, tt := range map[string]struct {
		header string
		pauses []time.Duration // before each request
		conns  int
	}{
		"none":               {"", []time.Duration{0, 900 * ms, 900 * ms, 900 * ms}, 1},
		"within its time":    {"timeout=3", []time.Duration{0, 1900 * ms, 1900 * ms}, 1},
		"near its time":      {"timeout=3", []time.Duration{0, 2100 * ms, 2100 * ms}, 3},
		"a second":           {"timeout=1", []time.Duration{0, 400 * ms, 600 * ms}, 2},
		"its number":         {"timeout=5, max=2", []time.Duration{0, 0, 0, 0, 0}, 3},
		"a number":           {"max=4", []time.Duration{0, 0, 0, 0}, 1},
		"in capitals":        {`Timeout="1" , Max="1"`, []time.Duration{0, 0}, 2},
		"nonsense":           {"timeout=soon, max=-1, =, ,max", []time.Duration{0, 900 * ms}, 1},
		"longer than we ask": {"timeout=75", []time.Duration{0, 3900 * ms, 4100 * ms}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			conns := 0
			inVirtualTime(t, func(w http.ResponseWriter, r *http.Request) {
				if tt.header != "" {
					w.Header().Set("Keep-Alive", tt.header)
				}
				io.WriteString(w, events(chunkA, chunkFinish, "[DONE]"))
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
	s := serveFaults(t, false, func(c *faultyConn, n int) bool {
		if n < most {
			return true
		}
		c.read()
		io.WriteString(c, answer)
		c.cut(true)
		return false
	})
	c, err := New(Options{URL: s.url, MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdle()
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
			for range 100 {
				if r := doWith(t, t.Context(), c); r.Status != StatusOK || r.Resent != 0 {
					t.Errorf("%s %s, sent again %d times", r.Class, r.Message, r.Resent)
				}
			}
		})
	}
	wg.Wait()
	if _, received := s.seen(); received > sent+800 || received < sent+800-lost {
		t.Errorf("%d requests received, %d sent, %d of them reset", received, sent+800, lost)
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
		io.WriteString(w, events(chunkA, chunkFinish, "[DONE]"))
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
