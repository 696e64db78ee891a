package selftest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// started starts a server and returns its URL.
func started(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- serveAll(l) }()
	t.Cleanup(func() {
		l.Close()
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// ask asks for tokens as an order says, and returns the events of the answer.
func ask(t *testing.T, url string, o order, tokens int) []string {
	t.Helper()
	prompt, _ := json.Marshal(o.String())
	body := fmt.Sprintf(`{"messages":[{"role":"user","content":%s}],"stream":true,"max_tokens":%d}`, prompt, tokens)
	r, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return nil
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return strings.Split(string(b), "data: ")[1:]
}

// Tokens tell when they were sent, and are followed by usage and [DONE].
func TestOrders(t *testing.T) {
	url := started(t)
	const streams, tokens = 3, 4
	var all sync.WaitGroup
	for range streams {
		all.Go(func() {
			events := ask(t, url, order{Phase: InStep, Every: 3 * time.Millisecond, Streams: streams}, tokens)
			if len(events) != tokens+2 {
				t.Errorf("%q", events)
				return
			}
			last := int64(0)
			for i, e := range events[:tokens] {
				_, text, _ := strings.Cut(e, `"content":"`)
				at, err := strconv.ParseInt(text[:instantDigits], 10, 64)
				if err != nil || at <= last {
					t.Errorf("token %d was sent at %d, after %d: %v", i, at, last, err)
				}
				last = at
			}
		})
	}
	all.Wait()
	if events := ask(t, url, order{}, 100); len(events) != 102 {
		t.Errorf("an answer at once has %d events", len(events))
	}
}

// Streams begin together, spread over their interval or in step.
func TestPhases(t *testing.T) {
	for phase, apart := range map[string]int64{Uniform: int64(10 * time.Millisecond), InStep: 0} {
		p := newPacer(newPacedClock())
		var all []*stream
		for range 4 {
			p.schedule()
			s := &stream{order: order{Phase: phase, Streams: 4, Every: 40 * time.Millisecond}}
			all = append(all, s)
			p.enqueue(s)
		}
		if len(p.running) > 0 {
			t.Fatalf("%s: %d have not waited for the rest", phase, len(p.running))
		}
		p.schedule()
		for i, s := range all {
			if got := s.due - all[0].due; got != int64(i)*apart {
				t.Errorf("%s: stream %d is %d ns behind the first", phase, i, got)
			}
		}
	}
}

// The clock agrees with the system's, which other processes read too.
func TestClock(t *testing.T) {
	c := newPacedClock()
	if before, now, after := monotonic(), c.Now(), monotonic(); now < before-int64(time.Millisecond) || now > after+
		int64(time.Millisecond) {
		t.Errorf("%d is not between %d and %d", now, before, after)
	}
	if got := c.At(c.at.Add(time.Hour)) - c.nanos; got != int64(time.Hour) {
		t.Errorf("an hour is %d ns", got)
	}
}
