package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"
)

// truth is a server that records when it wrote what. The client's instants are compared with it.
type truth struct {
	url   string
	wrote chan []written // one for each request, when its script is done
}

// piece is bytes that are written in one write, after a pause.
type piece struct {
	pause time.Duration
	text  string
}

// written is when a write began and when it returned. The kernel got the bytes in between.
type written struct{ from, to time.Time }

// serveScript starts a truth server that answers each request with a script, and keeps the connection open.
func serveScript(t testing.TB, secure bool, script ...piece) *truth {
	s := &truth{wrote: make(chan []written, 100)}
	quit := make(chan struct{})
	s.url = serveTCP(t, secure, func(c *serverConn, _ int) bool {
		for c.read() == nil {
			var all []written
			for _, p := range script {
				select {
				case <-time.After(p.pause):
				case <-quit:
					return false
				}
				w := written{from: time.Now()}
				if _, err := io.WriteString(c, p.text); err != nil {
					return false
				}
				w.to = time.Now()
				all = append(all, w)
			}
			s.wrote <- all
		}
		return false
	}).url
	t.Cleanup(func() { close(quit) })
	return s
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

// checkInstant compares an instant with the write that brought it.
func checkInstant(t testing.TB, what string, at time.Time, w written, exact bool) {
	t.Helper()
	switch {
	case at.Before(w.from.Add(-time.Millisecond)):
		t.Errorf("%s came %v before it was written", what, w.from.Sub(at))
	case exact && at.After(w.to.Add(slack)):
		t.Errorf("%s is dated %v late", what, at.Sub(w.to))
	}
}

// check compares each token's instant with the write that completed it. One write can complete several.
func (h *heard) check(t testing.TB, kernel bool, wrote []written, by ...int) {
	t.Helper()
	if len(by) != len(h.at) {
		t.Fatalf("%d tokens, not %d", len(h.at), len(by))
	}
	for i, at := range h.at {
		checkInstant(t, fmt.Sprint("token ", i), at, wrote[by[i]], kernel && !h.Shared.Has(i))
		if at.After(h.had[i]) {
			t.Errorf("token %d came %v after it was read", i, at.Sub(h.had[i]))
		}
	}
}

// stampedHere reports whether this system has timestamps of the kernel.
const stampedHere = runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64")

// unstamped dials without timestamps of the kernel.
func unstamped(ctx context.Context, network, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, address)
}

// inEachMode runs f for each kind of connection, with a client whose server has answered once: a kernel may start its
// timestamps late.
func inEachMode(t *testing.T, script []piece, f func(t *testing.T, kernel bool, s *truth, c *Client)) {
	for _, secure := range []bool{false, true} {
		for _, kernel := range []bool{true, false} {
			if kernel && !stampedHere {
				continue
			}
			t.Run(fmt.Sprintf("TLS %v, kernel %v", secure, kernel), func(t *testing.T) {
				t.Parallel()
				s := serveScript(t, secure, script...)
				o := Options{URL: s.url, Insecure: true}
				if !kernel {
					o.Dial = unstamped
				}
				c := newClient(t, o)
				listen(t, c, func(int) {})
				<-s.wrote
				f(t, kernel, s, c)
			})
		}
	}
}

// Every way to divide a stream into writes: each instant is that of the write that completed the chunk.
func TestInstantsAreTrue(t *testing.T) {
	t.Parallel()
	const pause = 3 * time.Millisecond
	a, b := events("A"), events("B")
	script := []piece{
		{pause, chunkedHead + chunk(events("role"))}, // 0
		{pause, chunk(a)},                                    // 1: a token by itself
		{pause, chunk(a) + chunk(b)},                         // 2: two in one write
		{pause, chunk(a)[:20]},                               // 3: one in two writes,
		{pause, chunk(a)[20:]},                               // 4
		{pause, chunk(a + b)[:len(a)+9]},                     // 5: two in one of HTTP's chunks, the second cut
		{3 * slack, chunk(a + b)[len(a)+9:]},                 // 6
		{pause, chunk(strings.Repeat(": ping\n\n", 700), a)}, // 7: behind more than a buffer holds
		{pause, chunk(a[:9], a[9:])[:33]},                    // 8: in two of HTTP's chunks, cut in the second
		{pause, chunk(a[:9], a[9:])[33:]},                    // 9
		{pause, chunk(events("finish [DONE]"))},              // 10
		{pause, "0\r\n\r\n"},                                 // 11: the terminator by itself
	}
	inEachMode(t, script, func(t *testing.T, kernel bool, s *truth, c *Client) {
		h := listen(t, c, func(int) {})
		wrote := <-s.wrote
		h.check(t, kernel, wrote, 1, 2, 2, 4, 5, 6, 7, 9)
		checkInstant(t, "the head", h.Epoch.Add(h.Headers), wrote[0], kernel)
		checkInstant(t, "the end", h.Epoch.Add(h.End), wrote[10], kernel)
		if !h.Shared.Has(1) || !h.Bounded(0) || !h.Bounded(1) || h.Gaps[1] != 0 {
			t.Errorf("two in one write are not told: %b, gaps %v", h.Shared, h.Gaps)
		}
		if d := h.ReadDelay; kernel != (d.Reads > 0) || kernel == (d.Unstamped > 0) || d.Max < 0 || d.Sum < d.Max {
			t.Errorf("%+v", d)
		}
		if got := c.Timestamps(); (got == "kernel") != kernel {
			t.Errorf("timestamps by %s", got)
		}
	})
}

// After a delay of this program, bytes that arrived meanwhile have the instants of their arrival.
func TestStallsDoNotShow(t *testing.T) {
	t.Parallel()
	const stall = 60 * time.Millisecond
	token := chunk(events("A"))
	script := []piece{{0, chunkedHead}, {0, token}, {10 * time.Millisecond, token}, {2 * stall, token},
		{0, chunk(events("finish [DONE]")) + "0\r\n\r\n"}}
	inEachMode(t, script, func(t *testing.T, kernel bool, s *truth, c *Client) {
		h := listen(t, c, func(i int) {
			if i == 0 {
				time.Sleep(stall)
			}
		})
		wrote := <-s.wrote
		h.check(t, kernel, wrote, 1, 2, 3)
		if late := h.at[1].Sub(wrote[2].to); kernel && !h.Shared.Has(1) && late > stall/2 {
			t.Errorf("dated %v late, by a program that slept for %v", late, stall)
		}
		if !kernel && h.Gaps[0] < stall {
			t.Errorf("gap %v, but the program slept for %v: who dated it?", h.Gaps[0], stall)
		}
		if held := h.had[1].Sub(wrote[2].to); kernel && !h.Shared.Has(1) && h.ReadDelay.Max < min(held, stall)/2 {
			t.Errorf("a delay of %v is not told: %+v", held, h.ReadDelay)
		}
	})
}

// Through a proxy that passes on TLS, only net/http can read the data. The instants are those of its reads.
func TestProxyOfTLS(t *testing.T) {
	s := serveScript(t, true, piece{0, chunkedHead + chunk(events("A B finish [DONE]")) + "0\r\n\r\n"})
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
	c := newClient(t, Options{URL: s.url, Insecure: true, Proxy: http.ProxyURL(at)})
	defer proxy.CloseClientConnections()
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

// A request on a connection that was dialled ahead needs no dial.
func TestWarm(t *testing.T) {
	s := serveTCP(t, true, func(*serverConn, int) bool { return true })
	c := newClient(t, Options{URL: s.url, Insecure: true})
	if err := c.Warm(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if r := doWith(t, t.Context(), c); r.Status != StatusOK || r.Dial != 0 {
		t.Errorf("%s, dial %v", summary(r), r.Dial)
	}
	c = newClient(t, Options{URL: s.url, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, io.EOF
	}})
	var f *Failure
	if err := c.Warm(t.Context(), 3); !errors.As(err, &f) || f.Class != ClassConnect {
		t.Error(err)
	}
}
