package client

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
)

// inVirtualTime runs f in a synctest bubble with a server. Options.Dial, if set, is called before each dial.
func inVirtualTime(t *testing.T, handler http.HandlerFunc, o Options, f func(*testing.T, *Client)) {
	synctest.Test(t, func(t *testing.T) {
		dial, before := testkit.ServePipes(t, handler), o.Dial
		o.URL = "http://server"
		o.Dial = func(ctx context.Context, n, a string) (net.Conn, error) {
			if before != nil {
				before(ctx, n, a)
			}
			return dial(ctx, n, a)
		}
		f(t, newClient(t, o))
	})
}

// say writes, flushes and waits.
func say(w http.ResponseWriter, wait time.Duration, text string) {
	io.WriteString(w, text)
	http.NewResponseController(w).Flush()
	time.Sleep(wait)
}

// talk answers with a stream with known instants.
func talk(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	time.Sleep(10 * ms)
	w.Header().Set("Content-Type", "text/event-stream")
	say(w, 5*ms, ": ping\n\n")
	say(w, 20*ms, events("role"))
	say(w, 7*ms, events("hm"))
	say(w, 11*ms, events("A B"))                 // two at once
	say(w, 13*ms, "data: "+named["A"][:30])      // one in three parts,
	say(w, 17*ms, named["A"][30:]+"\n")          // whole here,
	say(w, 19*ms, "\n"+events("B")+": ping\n\n") // its blank line later
	say(w, 23*ms, events("finish usage"))
	say(w, 29*ms, events("[DONE]"))
}

func TestInstants(t *testing.T) {
	slow := func(context.Context, string, string) (net.Conn, error) { time.Sleep(30 * ms); return nil, nil }
	inVirtualTime(t, talk, Options{Dial: slow}, func(t *testing.T, c *Client) {
		call, _ := c.Prepare(ask)
		var r Result
		epoch := time.Now()
		time.Sleep(70 * ms)
		r.Reset(epoch)
		var tokens []time.Duration
		r.OnToken = func(int) { tokens = append(tokens, time.Since(epoch)) }
		c.Do(t.Context(), call, &r)
		// Sent at 100 ms. A chunk's instant is when its line was complete, not when it was decoded.
		want := []time.Duration{100 * ms, 110 * ms, 135 * ms, 142 * ms, 183 * ms, 225 * ms, 30 * ms,
			7 * ms, 0, 24 * ms, 17 * ms}
		got := append([]time.Duration{r.Sent, r.Headers, r.FirstToken, r.FirstAnswer, r.LastToken, r.End, r.Dial}, r.Gaps...)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("-want +got\n%s", d)
		}
		if r.SharedReads != 1 || r.Shared[0] != 1<<1 || !r.Bounded(0) || !r.Bounded(1) || r.Bounded(2) || r.Bounded(3) {
			t.Errorf("%d share a receive: %b", r.SharedReads, r.Shared)
		}
		if r.Status != StatusOK || len(tokens) != 5 || tokens[0] != 135*ms {
			t.Errorf("%s %s, tokens at %v", r.Status, r.Message, tokens)
		}
		if again := doWith(t, t.Context(), c); again.Dial != 0 || again.Sent != 0 || again.Status != StatusOK {
			t.Errorf("the connection was there: dial %v, sent %v, %s", again.Dial, again.Sent, again.Message)
		}
	})
}

// A cancelled request keeps what was known, and is not a failure. One that exceeds its time limit is a failure, which
// names what it was waiting for.
func TestEndsBeforeTheAnswer(t *testing.T) {
	for after, want := range map[time.Duration]string{
		5 * ms:   `incomplete, HTTP 0`,
		50 * ms:  `incomplete, 3 chunks, chunks 3, reasoning 1, "AB"`,
		104 * ms: `incomplete, stop, 5 chunks, server 5, prompt 9, reasoning 1, "ABAB"`,
		126 * ms: `ok, stop, 5 chunks, server 5, prompt 9, reasoning 1, "ABAB"`,
	} {
		inVirtualTime(t, talk, Options{}, func(t *testing.T, c *Client) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(after, func() { cancel(errors.New("the stage is over")) })
			r := doWith(t, ctx, c)
			if checkSummary(t, r, want); (r.End == Absent) != (r.Status == StatusIncomplete) || r.Sent != 0 {
				t.Errorf("sent %v, end %v", r.Sent, r.End)
			}
		})
	}
	for limit, message := range map[time.Duration]string{
		5 * ms:   "no answer within the request's limit of 5ms",
		20 * ms:  "no token within the request's limit of 20ms",
		110 * ms: "no end of the answer within the request's limit of 110ms",
	} {
		inVirtualTime(t, talk, Options{Timeout: limit}, func(t *testing.T, c *Client) {
			r := doWith(t, t.Context(), c)
			if r.Status != StatusError || r.Class != ClassTimeout || r.Message != message || r.End != limit {
				t.Errorf("%v: %s %s at %v: %s", limit, r.Status, r.Class, r.End, r.Message)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		never := func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
		r := do(t, Options{URL: "server", Dial: never, Timeout: time.Second})
		if checkSummary(t, r, "timeout, HTTP 0: no connection within the request's limit of 1s"); r.Sent != Absent {
			t.Errorf("sent %v", r.Sent)
		}
	})
}

// A server that does not end the body after its terminator costs its connection, and neither the request nor its place.
// A refusal without its body is still a refusal.
func TestBodiesThatDoNotEnd(t *testing.T) {
	status := 200
	hang := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		say(w, 0, map[int]string{200: events("A finish [DONE]"), 500: "so"}[status])
		<-r.Context().Done()
	}
	inVirtualTime(t, hang, Options{}, func(t *testing.T, c *Client) {
		for i := range maxSlowEnds + 2 {
			wait := endTime
			if i >= maxSlowEnds {
				wait = 0
			}
			start := time.Now()
			if r := doWith(t, t.Context(), c); r.Status != StatusOK || r.End != 0 || time.Since(start) != wait {
				t.Errorf("%s, end %v, back after %v", r.Status, r.End, time.Since(start))
			}
		}
	})
	status = 500
	inVirtualTime(t, hang, Options{}, func(t *testing.T, c *Client) {
		r := doWith(t, t.Context(), c)
		if checkSummary(t, r, "http_5xx, HTTP 500: 500 Internal Server Error: so"); r.End != 0 {
			t.Errorf("ended at %v", r.End)
		}
	})
}
