package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/api"
)

const ms = time.Millisecond

// pipes is a network inside this process, for virtual time.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inVirtualTime runs f in a synctest bubble with a server. Options.Dial, if set, is called before each dial.
func inVirtualTime(t *testing.T, handler http.HandlerFunc, o Options, f func(*testing.T, *Client)) {
	synctest.Test(t, func(t *testing.T) {
		network := make(pipes)
		s := &http.Server{Handler: handler}
		go s.Serve(network)
		defer time.Sleep(time.Minute) // handlers come to their end
		defer s.Close()
		before := o.Dial
		o.URL = "http://server"
		o.Dial = func(ctx context.Context, n, a string) (net.Conn, error) {
			if before != nil {
				before(ctx, n, a)
			}
			return network.dial(ctx, n, a)
		}
		c, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseIdle()
		f(t, c)
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
	say(w, 20*ms, events(chunkRole))
	say(w, 7*ms, events(`{"choices":[{"delta":{"reasoning":"hm"}}]}`))
	say(w, 11*ms, events(chunkA, chunkB))           // two at once
	say(w, 13*ms, "data: "+chunkA[:30])             // one in three parts,
	say(w, 17*ms, chunkA[30:]+"\n")                 // whole here,
	say(w, 19*ms, "\n"+events(chunkB)+": ping\n\n") // its blank line later
	say(w, 23*ms, events(chunkFinish, chunkUsage))
	say(w, 29*ms, events("[DONE]"))
}

func TestInstants(t *testing.T) {
	inVirtualTime(t, talk, Options{}, func(t *testing.T, c *Client) {
		call, _ := c.Prepare(ask)
		var r Result
		epoch := time.Now()
		time.Sleep(100 * ms)
		r.Reset(epoch)
		var tokens []time.Duration
		r.OnToken = func(int) { tokens = append(tokens, time.Since(epoch)) }
		c.Do(t.Context(), call, &r)
		type instants struct {
			Sent, Headers, FirstToken, FirstAnswer, LastToken, End, Dial time.Duration
			Gaps                                                         []time.Duration
			Shared                                                       Marks
		}
		// Sent at 100 ms. A chunk's instant is when its line was complete, not when it was decoded.
		want := instants{100 * ms, 110 * ms, 135 * ms, 142 * ms, 183 * ms, 225 * ms, 0,
			[]time.Duration{7 * ms, 0, 24 * ms, 17 * ms}, Marks{1 << 1}}
		got := instants{r.Sent, r.Headers, r.FirstToken, r.FirstAnswer, r.LastToken, r.End, r.Dial, r.Gaps, r.Shared}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("-want +got\n%s", d)
		}
		if r.SharedReads != 1 || !r.Bounded(0) || !r.Bounded(1) || r.Bounded(2) || r.Bounded(3) {
			t.Errorf("%d share a receive: %b", r.SharedReads, r.Shared)
		}
		if r.Status != StatusOK || len(tokens) != 5 || tokens[0] != 135*ms {
			t.Errorf("%s %s, tokens at %v", r.Status, r.Message, tokens)
		}
	})
}

// A cancelled request keeps what was known, and is not a failure.
func TestCancelled(t *testing.T) {
	for after, want := range map[time.Duration]outcome{
		5 * ms: {Status: StatusIncomplete, Prompt: api.Unknown, Output: api.Unknown, Reasoning: api.Unknown,
			Cached: api.Unknown},
		50 * ms: {Status: StatusIncomplete, HTTP: 200, Source: SourceChunks, Chunks: 3, Answer: true, Prompt: api.Unknown,
			Output: 3, Reasoning: 1, Cached: api.Unknown, Text: "AB"},
		104 * ms: {Status: StatusIncomplete, HTTP: 200, Finish: "stop", Source: SourceServer, Chunks: 5, Answer: true,
			Prompt: 9, Output: 5, Reasoning: 1, Cached: api.Unknown, Text: "ABAB"},
		126 * ms: {Status: StatusOK, HTTP: 200, Finish: "stop", Source: SourceServer, Chunks: 5, Answer: true, Prompt: 9,
			Output: 5, Reasoning: 1, Cached: api.Unknown, Text: "ABAB"},
	} {
		t.Run(after.String(), func(t *testing.T) {
			inVirtualTime(t, talk, Options{}, func(t *testing.T, c *Client) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(after, func() { cancel(errors.New("the stage is over")) })
				r := doWith(t, ctx, c)
				checkOutcome(t, r, want)
				if (r.End == Absent) != (want.Status == StatusIncomplete) || r.Sent != 0 {
					t.Errorf("sent %v, end %v", r.Sent, r.End)
				}
			})
		})
	}
}

// A request that exceeds its time limit is a failure, which names what it was waiting for.
func TestTimeout(t *testing.T) {
	for limit, message := range map[time.Duration]string{
		5 * ms:   "no answer within the request's limit of 5ms",
		20 * ms:  "no token within the request's limit of 20ms",
		50 * ms:  "no end of the answer within the request's limit of 50ms",
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
		r := do(t, t.Context(), Options{URL: "server", Dial: make(pipes).dial, Timeout: time.Second})
		if r.Class != ClassTimeout || r.Message != "no connection within the request's limit of 1s" || r.Sent != Absent {
			t.Errorf("%+v", r)
		}
	})
}

// The time of dialling is recorded. It is 0 for a connection that exists already.
func TestDial(t *testing.T) {
	slow := func(context.Context, string, string) (net.Conn, error) {
		time.Sleep(30 * ms)
		return nil, nil
	}
	inVirtualTime(t, talk, Options{Dial: slow}, func(t *testing.T, c *Client) {
		for _, want := range []time.Duration{30 * ms, 0} {
			if r := doWith(t, t.Context(), c); r.Dial != want || r.Sent != want || r.Status != StatusOK {
				t.Errorf("dial %v, sent %v, %s", r.Dial, r.Sent, r.Message)
			}
		}
	})
}

// A server that does not end the body after its terminator costs its connection, and neither the request nor its place.
func TestDrain(t *testing.T) {
	hang := func(w http.ResponseWriter, r *http.Request) {
		say(w, 0, events(chunkA, chunkFinish, "[DONE]"))
		<-r.Context().Done()
	}
	inVirtualTime(t, hang, Options{}, func(t *testing.T, c *Client) {
		for i := range maxOpenEnds + 2 {
			wait := endTime
			if i >= maxOpenEnds {
				wait = 0
			}
			start := time.Now()
			if r := doWith(t, t.Context(), c); r.Status != StatusOK || r.End != 0 || time.Since(start) != wait {
				t.Errorf("%s, end %v, back after %v", r.Status, r.End, time.Since(start))
			}
		}
	})
}

// A refusal without its body is still a refusal.
func TestRefusalWithoutEnd(t *testing.T) {
	hang := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(500)
		say(w, 0, "so")
		<-r.Context().Done()
	}
	inVirtualTime(t, hang, Options{}, func(t *testing.T, c *Client) {
		r := doWith(t, t.Context(), c)
		if r.Class != ClassHTTP5xx || r.Message != "500 Internal Server Error: so" || r.End != 0 {
			t.Errorf("%+v", r)
		}
	})
}

// A connection that was closed before a byte was written is replaced, and the instants are those of the new one.
func TestConnectionReplaced(t *testing.T) {
	var conns int
	count := func(context.Context, string, string) (net.Conn, error) {
		conns++
		return nil, nil
	}
	inVirtualTime(t, talk, Options{Dial: count}, func(t *testing.T, c *Client) {
		doWith(t, t.Context(), c)
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
			if i.Reused {
				i.Conn.Close()
			}
		}})
		r := doWith(t, ctx, c)
		if r.Status != StatusOK && r.Class != ClassReset {
			t.Errorf("%+v", r)
		}
		if r.Status == StatusOK && (conns != 2 || r.Sent != 0) {
			t.Errorf("%d connections, sent %v", conns, r.Sent)
		}
	})
}

// Requests from several goroutines, for the race detector.
func TestConcurrent(t *testing.T) {
	inVirtualTime(t, talk, Options{MaxConns: 50}, func(t *testing.T, c *Client) {
		results := make(chan error)
		for range 50 {
			go func() {
				for range 3 {
					if r := doWith(t, t.Context(), c); r.Status != StatusOK || r.FirstToken-r.Sent != 35*ms {
						results <- fmt.Errorf("%+v", r)
						return
					}
				}
				results <- nil
			}()
		}
		for range 50 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
	})
}
