package client

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"llmsweep/client/api"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// answer is a whole answer that leaves the connection open.
var answer = truthHead + chunk(events(chunkA, chunkFinish, "[DONE]")) + "0\r\n\r\n"

// faulty is a server that breaks connections when it is told to, and notes what it received.
type faulty struct {
	url string
	// fault is called for each request, before anything of it is read. It returns true to have the request answered.
	fault func(f *faultyConn, request int) bool

	mu       sync.Mutex
	conns    []*faultyConn
	received int            // requests read to their end
	bodies   map[string]int // how often each body was
}

// faultyConn is one of its connections.
type faultyConn struct {
	server *faulty
	net.Conn
	tcp    net.Conn // below TLS
	in     *bufio.Reader
	began  time.Time // when the latest request's first byte was there
	closed time.Time // when the server broke the connection
	done   chan struct{}
}

// serveFaults starts a faulty server.
func serveFaults(t testing.TB, secure bool, fault func(*faultyConn, int) bool) *faulty {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &faulty{url: "http://" + l.Addr().String(), fault: fault, bodies: map[string]int{}}
	var conf *tls.Config
	if secure {
		u := httptest.NewUnstartedServer(nil) // has a certificate
		u.StartTLS()
		conf = u.TLS
		u.Close()
		s.url = "https://" + l.Addr().String()
	}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		s.each(func(c *faultyConn) { c.tcp.Close() })
		wg.Wait()
	})
	wg.Go(func() {
		for {
			tcp, err := l.Accept()
			if err != nil {
				return
			}
			c := &faultyConn{server: s, Conn: tcp, tcp: tcp, done: make(chan struct{})}
			if secure {
				c.Conn = tls.Server(tcp, conf)
			}
			c.in = bufio.NewReader(c.Conn)
			s.mu.Lock()
			s.conns = append(s.conns, c)
			s.mu.Unlock()
			wg.Go(c.serve)
		}
	})
	return s
}

func (s *faulty) each(f func(*faultyConn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		f(c)
	}
}

// seen returns the numbers of connections and of whole requests so far.
func (s *faulty) seen() (conns, received int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns), s.received
}

func (c *faultyConn) serve() {
	defer close(c.done)
	defer c.tcp.Close()
	for n := 1; ; n++ {
		if _, err := c.in.Peek(1); err != nil {
			return
		}
		c.began = time.Now()
		if !c.server.fault(c, n) || c.read() != nil {
			return
		}
		if _, err := io.WriteString(c, answer); err != nil {
			return
		}
	}
}

// read reads a request to its end.
func (c *faultyConn) read() error {
	r, err := http.ReadRequest(c.in)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.server.received++
	c.server.bodies[string(body)]++
	return nil
}

// cut breaks the connection, in an orderly way (TLS's close_notify and a FIN) or with a RST.
func (c *faultyConn) cut(orderly bool) {
	c.closed = time.Now()
	if orderly {
		c.Conn.Close()
		return
	}
	tcp := c.tcp.(*net.TCPConn)
	tcp.SetLinger(0)
	tcp.Close()
}

// hold stops the client between the moment when it has a connection and the write, and calls then with the number of
// connections that this request has been given.
func hold(then func(conns int)) context.Context {
	n := 0
	return httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		n++
		then(n)
	}})
}

// Every moment at which a server can break a connection, on the first and on the hundredth request that it carries, in
// plain text and under TLS, by FIN and by RST: the class, how many requests the server received, and whose the time is.
func TestFaults(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("word ", 4<<20/5) // more than the sockets' buffers hold
	type want struct {
		status   Status
		class    Class
		received int // of the last request: whole ones
		resent   int
		sent     bool
	}
	reset := func(received int) want { return want{StatusError, ClassReset, received, 0, true} }
	truncated := func(orderly bool) want {
		if orderly {
			return want{StatusError, ClassTruncated, 1, 0, true}
		}
		return reset(1)
	}
	for _, fault := range []struct {
		name   string
		before bool // the server acts after the client has the connection and before it writes
		then   func(c *faultyConn, orderly bool)
		prompt string
		first  func(orderly bool) want // on a connection's first request
		later  func(orderly bool) want // on one that has been kept
	}{
		{"before the write", true, nil, "hello", func(orderly bool) want {
			if orderly {
				return reset(0) // the kernel takes the request: what became of it is not known
			}
			return want{StatusError, ClassReset, 0, 0, false} // nothing was sent, but a fresh connection is not replaced
		}, func(bool) want { return want{StatusOK, "", 1, 1, true} }},
		{"as it is written", false, func(c *faultyConn, orderly bool) { c.cut(orderly) }, "hello",
			func(bool) want { return reset(0) }, func(bool) want { return reset(0) }},
		{"during the write", false, func(c *faultyConn, orderly bool) {
			io.CopyN(io.Discard, c.in, 64<<10)
			c.cut(orderly)
		}, large, func(bool) want { return reset(0) }, func(bool) want { return reset(0) }},
		{"after the write", false, func(c *faultyConn, orderly bool) {
			c.read()
			c.cut(orderly)
		}, "hello", func(bool) want { return reset(1) }, func(bool) want { return reset(1) }},
		{"in the headers", false, func(c *faultyConn, orderly bool) {
			c.read()
			io.WriteString(c, truthHead[:30])
			c.cut(orderly)
		}, "hello", truncated, truncated},
		{"after the headers", false, func(c *faultyConn, orderly bool) {
			c.read()
			io.WriteString(c, truthHead)
			c.cut(orderly)
		}, "hello", truncated, truncated},
		{"in the body", false, func(c *faultyConn, orderly bool) {
			c.read()
			io.WriteString(c, truthHead+chunk(events(chunkA)))
			c.cut(orderly)
		}, "hello", truncated, truncated},
	} {
		for _, nth := range []int{1, 100} {
			for _, secure := range []bool{false, true} {
				for _, orderly := range []bool{true, false} {
					name := fmt.Sprintf("%s, request %d, TLS %v, orderly %v", fault.name, nth, secure, orderly)
					t.Run(name, func(t *testing.T) {
						s := serveFaults(t, secure, func(c *faultyConn, n int) bool {
							if n < nth || fault.before {
								return true
							}
							fault.then(c, orderly)
							return false
						})
						// The header makes net/http think that it may send the request again.
						c, err := New(Options{URL: s.url, Insecure: true, Headers: http.Header{"Idempotency-Key": {"1"}}})
						if err != nil {
							t.Fatal(err)
						}
						defer c.CloseIdle()
						for range nth - 1 {
							if r := doWith(t, t.Context(), c); r.Status != StatusOK || r.Resent != 0 {
								t.Fatalf("%s %s, sent again %d times", r.Class, r.Message, r.Resent)
							}
						}
						conns, before := s.seen()
						if conns > 1 || before != nth-1 {
							t.Fatalf("%d connections, %d requests", conns, before)
						}
						ctx := t.Context()
						if fault.before {
							ctx = hold(func(n int) {
								if n > 1 {
									return
								}
								for conns, _ := s.seen(); conns == 0; conns, _ = s.seen() {
									time.Sleep(time.Millisecond) // the server has not accepted the first one yet
								}
								s.each(func(c *faultyConn) { c.cut(orderly) })
							})
						}
						call, err := c.Prepare(&api.Request{Messages: []api.Message{{Role: "user", Content: fault.prompt}},
							OutputTokens: 4})
						if err != nil {
							t.Fatal(err)
						}
						var r Result
						begin := time.Now()
						r.Reset(begin)
						c.Do(ctx, call, &r)
						w := fault.first(orderly)
						if nth > 1 {
							w = fault.later(orderly)
						}
						_, received := s.seen()
						got := want{r.Status, r.Class, received - before, r.Resent, r.Sent != Absent}
						if fault.before && nth == 1 && orderly {
							got.sent = true // or not, if net/http saw the FIN before it wrote
						}
						if d := cmp.Diff(w, got, cmp.AllowUnexported(want{})); d != "" {
							t.Errorf("-want +got\n%s%s", d, r.Message)
						}
						s.checkTimes(t, &r, nth == 1 || fault.before)
					})
				}
			}
		}
	}
}

// checkTimes compares a request's times with the server's own: it was sent before the server saw it, and failed after
// the server broke the connection. Dialled tells whether it needed a new connection.
func (s *faulty) checkTimes(t *testing.T, r *Result, dialled bool) {
	t.Helper()
	s.mu.Lock()
	first, last := s.conns[0], s.conns[len(s.conns)-1]
	s.mu.Unlock()
	<-first.done
	if (r.Dial > 0) != dialled {
		t.Errorf("dial %v", r.Dial)
	}
	sent, end := r.Epoch.Add(r.Sent), r.Epoch.Add(r.End)
	switch {
	case r.End == Absent || r.End < 0 || r.End > 5*time.Second:
		t.Errorf("end %v", r.End)
	case r.Status == StatusError && end.Before(first.closed):
		t.Errorf("failed %v before the server broke the connection", first.closed.Sub(end))
	case r.Sent == Absent:
	case r.Resent > 0 && sent.Before(first.closed):
		t.Errorf("sent %v before the first connection was broken", first.closed.Sub(sent))
	case r.Resent > 0 && r.Sent < r.Dial:
		t.Errorf("sent %v, dial %v", r.Sent, r.Dial)
	case last.began.IsZero(): // the server read nothing
	case sent.After(last.began):
		t.Errorf("sent %v after the server had it", sent.Sub(last.began))
	}
}
