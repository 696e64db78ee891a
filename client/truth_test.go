package client

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"
)

// truth is a server that records when it wrote what. The client's instants are compared with it.
type truth struct {
	url    string
	script []piece
	wrote  chan []written // one for each request, when its script is done
}

// piece is bytes that are written in one write, after a pause.
type piece struct {
	pause time.Duration
	text  string
}

// written is when a write began and when it returned. The kernel got the bytes in between.
type written struct{ from, to time.Time }

const truthHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// chunk frames a part of the body.
func chunk(events ...string) string {
	var b strings.Builder
	w := httputil.NewChunkedWriter(&b)
	for _, e := range events {
		io.WriteString(w, e)
	}
	return b.String()
}

// tell starts a truth server with a script.
func tell(t testing.TB, secure bool, script ...piece) *truth {
	s := &truth{script: script, wrote: make(chan []written, 100)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + l.Addr().String()
	if secure {
		u := httptest.NewUnstartedServer(nil) // has a certificate
		u.StartTLS()
		certificate := u.TLS
		u.Close()
		l, s.url = tls.NewListener(l, certificate), "https://"+l.Addr().String()
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { c.Close() })
			go s.serve(c)
		}
	}()
	return s
}

// serve answers requests with the script, and keeps the connection open.
func (s *truth) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		io.Copy(io.Discard, r.Body)
		var all []written
		for _, p := range s.script {
			time.Sleep(p.pause)
			w := written{from: time.Now()}
			if _, err := io.WriteString(c, p.text); err != nil {
				return
			}
			w.to = time.Now()
			all = append(all, w)
		}
		s.wrote <- all
	}
}

// slack is the allowed error, for the conversion between clocks and a busy kernel.
const slack = 20 * time.Millisecond

// heard is when each of a request's tokens arrived, by the result and by this program's own clock.
type heard struct {
	Result
	at, had []time.Time
}

// listen sends a request, and calls a function between tokens.
func listen(t testing.TB, c *Client, between func(i int)) *heard {
	t.Helper()
	call, err := c.Prepare(ask)
	if err != nil {
		t.Fatal(err)
	}
	var h heard
	h.Reset(time.Now())
	h.OnToken = func(int) {
		h.had = append(h.had, time.Now())
		between(len(h.had) - 1)
	}
	c.Do(t.Context(), call, &h.Result)
	if h.Status != StatusOK || h.Chunks() != len(h.had) {
		t.Fatalf("%s: %s", h.Status, h.Message)
	}
	at := h.Epoch.Add(h.FirstToken)
	h.at = append(h.at, at)
	for _, g := range h.Gaps {
		at = at.Add(g)
		h.at = append(h.at, at)
	}
	return &h
}

// check compares each token's instant with the write that completed it. One write can complete several.
func (h *heard) check(t testing.TB, kernel bool, wrote []written, by ...int) {
	t.Helper()
	if len(by) != len(h.at) {
		t.Fatalf("%d tokens, not %d", len(h.at), len(by))
	}
	for i, at := range h.at {
		w := wrote[by[i]]
		switch {
		case at.Before(w.from.Add(-time.Millisecond)):
			t.Errorf("token %d came %v before it was written", i, w.from.Sub(at))
		case at.After(h.had[i]):
			t.Errorf("token %d came %v after it was read", i, at.Sub(h.had[i]))
		case kernel && !h.Shared.Has(i) && at.After(w.to.Add(slack)):
			t.Errorf("token %d is dated %v late", i, at.Sub(w.to))
		}
	}
}

// stampedHere reports whether this system has timestamps of the kernel.
const stampedHere = runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64")

// unstamped dials without timestamps of the kernel.
func unstamped(ctx context.Context, network, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, address)
}

// modes are the kinds of connection.
func modes(t *testing.T, f func(t *testing.T, secure, kernel bool, o Options)) {
	for _, secure := range []bool{false, true} {
		for _, kernel := range []bool{true, false} {
			if kernel && !stampedHere {
				continue
			}
			t.Run(fmt.Sprintf("TLS %v, kernel %v", secure, kernel), func(t *testing.T) {
				o := Options{Insecure: true}
				if !kernel {
					o.Dial = unstamped
				}
				f(t, secure, kernel, o)
			})
		}
	}
}

// dial returns a client of a server that has sent a first request: a kernel may start its timestamps late.
func dial(t *testing.T, s *truth, o Options) *Client {
	t.Helper()
	o.URL = s.url
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	listen(t, c, func(int) {})
	<-s.wrote
	return c
}

// Every way to divide a stream into writes, over one connection that is reused: each instant is that of the write that
// completed the chunk.
func TestInstantsAreTrue(t *testing.T) {
	const pause = 3 * time.Millisecond
	a, b := events(chunkA), events(chunkB)
	script := []piece{
		{pause, truthHead + chunk(events(chunkRole))}, // 0
		{pause, chunk(a)},            // 1: a token by itself
		{pause, chunk(a) + chunk(b)}, // 2: two in one write
		{pause, chunk(a)[:20]},       // 3: one in two writes,
		{pause, chunk(a)[20:]},       // 4
		// 5: two in one of HTTP's chunks, cut between the lines of the first
		{pause, chunk(a + b)[:len(a)+9]},
		{3 * slack, chunk(a + b)[len(a)+9:]},                 // 6
		{pause, chunk(strings.Repeat(": ping\n\n", 700), a)}, // 7: behind more than a buffer holds
		{pause, chunk(a[:9], a[9:])[:33]},                    // 8: in two of HTTP's chunks, cut in the second
		{pause, chunk(a[:9], a[9:])[33:]},                    // 9
		{pause, chunk(events(chunkFinish, "[DONE]"))},        // 10
		{pause, "0\r\n\r\n"},                                 // 11: the terminator by itself
	}
	modes(t, func(t *testing.T, secure, kernel bool, o Options) {
		s := tell(t, secure, script...)
		c := dial(t, s, o)
		for range 3 {
			h := listen(t, c, func(int) {})
			wrote := <-s.wrote
			h.check(t, kernel, wrote, 1, 2, 2, 4, 5, 6, 7, 9)
			if h.Dial != 0 {
				t.Error("the connection was not used again")
			}
			if !h.Shared.Has(1) || !h.Bounded(0) || !h.Bounded(1) || h.Gaps[1] != 0 {
				t.Errorf("two in one write are not told: %b, gaps %v", h.Shared, h.Gaps)
			}
			if head := h.Epoch.Add(h.Headers); head.Before(wrote[0].from.Add(-time.Millisecond)) || kernel &&
				head.After(wrote[0].to.Add(slack)) {
				t.Errorf("headers %v after they were written", head.Sub(wrote[0].to))
			}
			if end := h.Epoch.Add(h.End); end.Before(wrote[10].from.Add(-time.Millisecond)) || kernel &&
				end.After(wrote[10].to.Add(slack)) {
				t.Errorf("end %v after it was written", end.Sub(wrote[10].to))
			}
			if d := h.ReadDelay; kernel != (d.Reads > 0) || kernel == (d.Unstamped > 0) || d.Max < 0 || d.Sum < d.Max {
				t.Errorf("%+v", d)
			}
		}
		if got := c.Timestamps(); (got == "kernel") != kernel {
			t.Errorf("timestamps by %s", got)
		}
	})
}

// After a delay of this program, bytes that arrived meanwhile have the instants of their arrival.
func TestStallsDoNotShow(t *testing.T) {
	const stall = 100 * time.Millisecond
	token := chunk(events(chunkA))
	script := []piece{{0, truthHead}, {0, token}, {20 * time.Millisecond, token}, {300 * time.Millisecond, token},
		{0, chunk(events(chunkFinish, "[DONE]")) + "0\r\n\r\n"}}
	modes(t, func(t *testing.T, secure, kernel bool, o Options) {
		s := tell(t, secure, script...)
		c := dial(t, s, o)
		h := listen(t, c, func(i int) {
			if i == 0 {
				time.Sleep(stall)
			}
		})
		wrote := <-s.wrote
		h.check(t, kernel, wrote, 1, 2, 3)
		if late := h.at[1].Sub(wrote[2].to); kernel && late > stall/2 {
			t.Errorf("dated %v late, by a program that slept for %v", late, stall)
		}
		if !kernel && h.Gaps[0] < stall {
			t.Errorf("gap %v, but the program slept for %v: who dated it?", h.Gaps[0], stall)
		}
		if held := h.had[1].Sub(wrote[2].to); kernel && h.ReadDelay.Max < min(held, stall)/2 {
			t.Errorf("a delay of %v is not told: %+v", held, h.ReadDelay)
		}
	})
}

// Cancelling ends a request that waits for bytes.
func TestCancelledWhileReceiving(t *testing.T) {
	s := tell(t, false, piece{0, truthHead + chunk(events(chunkA))}, piece{time.Hour, "never"})
	c, err := New(Options{URL: s.url})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdle()
	ctx, cancel := context.WithCancel(t.Context())
	call, _ := c.Prepare(ask)
	var r Result
	r.Reset(time.Now())
	r.OnToken = func(int) { time.AfterFunc(5*time.Millisecond, cancel) }
	c.Do(ctx, call, &r)
	if r.Status != StatusIncomplete || r.Chunks() != 1 {
		t.Errorf("%+v", r)
	}
}

// Through a proxy that passes on TLS, only net/http can read the data. The instants are those of its reads.
func TestProxy(t *testing.T) {
	s := tell(t, true, piece{0, truthHead + chunk(events(chunkA, chunkB, chunkFinish, "[DONE]")) + "0\r\n\r\n"})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		far, err := net.Dial("tcp", r.Host)
		if err != nil {
			t.Error(err)
			return
		}
		near, _, _ := http.NewResponseController(w).Hijack()
		io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
		go io.Copy(far, near)
		io.Copy(near, far)
	}))
	defer proxy.Close()
	at, _ := url.Parse(proxy.URL)
	c, err := New(Options{URL: s.url, Insecure: true, Proxy: http.ProxyURL(at)})
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.CloseClientConnections()
	defer c.CloseIdle()
	if err := c.Warm(t.Context(), 3); err != nil {
		t.Error(err)
	}
	for range 2 {
		h := listen(t, c, func(int) {})
		h.check(t, false, <-s.wrote, 0, 0)
		if h.Sent < 0 || h.Headers < h.Sent || h.ReadDelay.Unstamped == 0 || !h.Shared.Has(0) || c.Timestamps() != "user" {
			t.Errorf("%+v, %s", h.Result, c.Timestamps())
		}
	}
}

// Requests on connections dialled ahead need no dial. One that the server has closed meanwhile costs no request.
func TestWarm(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := tell(t, secure, piece{0, truthHead + chunk(events(chunkA, chunkFinish, "[DONE]")) + "0\r\n\r\n"})
		var dials []string
		c, err := New(Options{URL: s.url, Insecure: true, Dial: func(ctx context.Context, n, a string) (net.Conn, error) {
			dials = append(dials, a)
			return unstamped(ctx, n, a)
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseIdle()
		if err := c.Warm(t.Context(), 1); err != nil || len(dials) != 1 {
			t.Fatalf("%d dials, %v", len(dials), err)
		}
		if r := doWith(t, t.Context(), c); r.Status != StatusOK || r.Dial != 0 || len(dials) != 1 {
			t.Errorf("TLS %v: %s %s, dial %v, %d dials", secure, r.Status, r.Message, r.Dial, len(dials))
		}
	}
	s := tell(t, false)
	s.url = strings.Replace(s.url, "http:", "https:", 1)
	c, err := New(Options{URL: s.url, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := c.Warm(ctx, 3); err == nil {
		t.Error("connected to a server that says nothing")
	}
}
