package client

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"llmsweep/client/api"
)

// Every moment at which a server can break a connection, on the first and on a later request that it carries, in plain
// text and under TLS, by FIN and by RST: the class, how many requests the server received, and whose the time is.
func TestFaults(t *testing.T) {
	t.Parallel()
	cut := (*serverConn).cut
	read := func(n int64) func(*serverConn, bool) {
		return func(c *serverConn, orderly bool) {
			io.CopyN(io.Discard, c.in, n)
			c.cut(orderly)
		}
	}
	const reset0, reset1, truncated = "reset, 0 received", "reset, 1 received", "truncated, 1 received"
	const large = 4 << 20 // more than the sockets' buffers hold
	for _, fault := range []struct {
		name   string
		prompt int
		then   func(c *serverConn, orderly bool) // nil: it acts after the client has the connection and before it writes
		first  [2]string                         // on a connection's first request, orderly and not
		later  [2]string                         // on one that has been kept
	}{
		// An orderly end before the write: the kernel takes the request, and what became of it is not known. After the
		// other nothing was sent, but a fresh connection is not replaced.
		{"before the write", 5, nil, [2]string{reset0, reset0 + ", not sent"},
			[2]string{"ok, 1 received, sent again", "ok, 1 received, sent again"}},
		{"as it is written", 5, cut, [2]string{reset0, reset0}, [2]string{reset0, reset0}},
		{"during the write", large, read(64 << 10), [2]string{reset0, reset0}, [2]string{reset0, reset0}},
		{"after the write", 5, cutAfter(""), [2]string{reset1, reset1}, [2]string{reset1, reset1}},
		{"in the headers", 5, cutAfter(chunkedHead[:30]), [2]string{truncated, reset1}, [2]string{truncated, reset1}},
		{"after the headers", 5, cutAfter(chunkedHead), [2]string{truncated, reset1}, [2]string{truncated, reset1}},
		{"in the body", 5, cutAfter(chunkedHead + chunk(events("A"))), [2]string{truncated, reset1},
			[2]string{truncated, reset1}},
	} {
		for i := range 8 {
			nth, secure, orderly := 1+9*(i&1), i&2 > 0, i&4 > 0
			t.Run(fmt.Sprintf("%s, request %d, TLS %v, orderly %v", fault.name, nth, secure, orderly), func(t *testing.T) {
				s := serveTCP(t, secure, func(c *serverConn, n int) bool {
					if n < nth || fault.then == nil {
						return true
					}
					fault.then(c, orderly)
					return false
				})
				// The header makes net/http think that it may send the request again.
				c := newClient(t, Options{URL: s.url, Insecure: true, Headers: http.Header{"Idempotency-Key": {"1"}}})
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
				if fault.then == nil {
					ctx = hold(func(n int) {
						if n > 1 {
							return
						}
						for conns, _ := s.seen(); conns == 0; conns, _ = s.seen() {
							time.Sleep(time.Millisecond) // the server has not accepted the first one yet
						}
						s.each(func(c *serverConn) { c.cut(orderly) })
					})
				}
				r := send(t, c, ctx, &api.Request{OutputTokens: 4,
					Messages: []api.Message{{Role: "user", Content: strings.Repeat("w", fault.prompt)}}})
				want := fault.first
				if nth > 1 {
					want = fault.later
				}
				_, received := s.seen()
				checkFault(t, r, received-before, want[map[bool]int{true: 0, false: 1}[orderly]])
				s.checkTimes(t, r, nth == 1 || fault.then == nil)
			})
		}
	}
}

// checkFault compares how a request ended, and how often it was received, with a line of the table.
func checkFault(t *testing.T, r *Result, received int, want string) {
	t.Helper()
	got := string(r.Class)
	if r.Status == StatusOK {
		got = "ok"
	}
	got += fmt.Sprintf(", %d received", received)
	if r.Resent > 0 {
		got += ", sent again"
	}
	if r.Sent == Absent && strings.HasSuffix(want, "not sent") { // an orderly end may be seen before the write, or not
		got += ", not sent"
	}
	if got != want || r.Resent > 1 {
		t.Errorf("%s, want %s: %s, sent again %d times", got, want, r.Message, r.Resent)
	}
}

// checkTimes compares a request's times with the server's own: it was sent before the server saw it, and failed after
// the server broke the connection. Dialled tells whether it needed a new connection.
func (s *testServer) checkTimes(t *testing.T, r *Result, dialled bool) {
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
