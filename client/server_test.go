package client

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"strings"
	"sync"
	"testing"
	"time"
)

const chunkedHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// chunk frames parts of a body.
func chunk(parts ...string) string {
	var b strings.Builder
	w := httputil.NewChunkedWriter(&b)
	for _, part := range parts {
		io.WriteString(w, part)
	}
	return b.String()
}

// answer is a whole answer that leaves the connection open.
var answer = chunkedHead + chunk(events("A finish [DONE]")) + "0\r\n\r\n"

// testServer is a server below HTTP, which does as it is told and notes what it received.
type testServer struct {
	url string
	// act is called for each request, before anything of it is read. It returns true to have the request answered.
	act func(c *serverConn, request int) bool

	mu       sync.Mutex
	closed   bool
	conns    []*serverConn
	received int            // requests read to their end
	bodies   map[string]int // how often each body was
}

// serverConn is one of its connections.
type serverConn struct {
	server *testServer
	net.Conn
	tcp    *net.TCPConn // below TLS
	in     *bufio.Reader
	began  time.Time // when the latest request's first byte was there
	closed time.Time // when the server broke the connection
	done   chan struct{}
}

// serveTCP starts a server.
func serveTCP(t testing.TB, secure bool, act func(*serverConn, int) bool) *testServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{url: "http://" + l.Addr().String(), act: act, bodies: map[string]int{}}
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
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		s.each(func(c *serverConn) { c.tcp.Close() })
		wg.Wait()
	})
	wg.Go(func() {
		for {
			tcp, err := l.Accept()
			if err != nil {
				return
			}
			c := &serverConn{server: s, Conn: tcp, tcp: tcp.(*net.TCPConn), done: make(chan struct{})}
			if secure {
				c.Conn = tls.Server(tcp, conf)
			}
			c.in = bufio.NewReader(c.Conn)
			s.mu.Lock()
			s.conns = append(s.conns, c)
			if s.closed {
				tcp.Close()
			}
			s.mu.Unlock()
			wg.Go(c.serve)
		}
	})
	return s
}

func (s *testServer) each(f func(*serverConn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		f(c)
	}
}

// seen returns the numbers of connections and of whole requests so far.
func (s *testServer) seen() (conns, received int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns), s.received
}

func (c *serverConn) serve() {
	defer close(c.done)
	defer c.tcp.Close()
	for n := 1; ; n++ {
		if _, err := c.in.Peek(1); err != nil {
			return
		}
		c.began = time.Now()
		if !c.server.act(c, n) || c.read() != nil {
			return
		}
		if _, err := io.WriteString(c, answer); err != nil {
			return
		}
	}
}

// read reads a request to its end.
func (c *serverConn) read() error {
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
func (c *serverConn) cut(orderly bool) {
	c.closed = time.Now()
	if orderly {
		c.Conn.Close()
		return
	}
	c.tcp.SetLinger(0)
	c.tcp.Close()
}

// cutAfter returns what a server does that reads a request, says something, and breaks the connection.
func cutAfter(text string) func(c *serverConn, orderly bool) {
	return func(c *serverConn, orderly bool) {
		c.read()
		io.WriteString(c, text)
		c.cut(orderly)
	}
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

// newClient returns a client that is closed when the test ends.
func newClient(t testing.TB, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	return c
}

// canned is a connection without a server: whatever is asked, the same comes.
type canned struct {
	net.Conn // a pipe's end, for addresses and deadlines
	answer   *strings.Reader
}

func (c *canned) Write(p []byte) (int, error) { return len(p), nil }
func (c *canned) Read(p []byte) (int, error)  { return c.answer.Read(p) }

// dialCanned dials one.
func dialCanned(answer string) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		near, _ := net.Pipe()
		return &canned{near, strings.NewReader(answer)}, nil
	}
}
