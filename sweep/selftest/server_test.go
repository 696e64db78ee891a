package selftest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
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

// ask sends a body to a path and returns the answer's lines with data.
func ask(t *testing.T, url, body string) []string {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return nil
	}
	defer r.Body.Close()
	var events []string
	in := bufio.NewScanner(r.Body)
	for in.Scan() {
		if data, ok := strings.CutPrefix(in.Text(), "data: "); ok {
			events = append(events, data)
		}
	}
	if err := in.Err(); err != nil {
		t.Error(err)
	}
	return events
}

// TestOrders has streams whose tokens tell when they were sent.
func TestOrders(t *testing.T) {
	url := started(t)
	const streams, tokens = 3, 4
	var mu sync.Mutex
	var first []int64
	var all sync.WaitGroup
	for range streams {
		all.Go(func() {
			prompt, _ := json.Marshal(order{Phase: InStep, Every: 3 * time.Millisecond, Streams: streams}.String())
			events := ask(t, url+"/v1/chat/completions",
				fmt.Sprintf(`{"messages":[{"role":"user","content":%s}],"stream":true,"max_tokens":%d}`, prompt, tokens))
			if len(events) != tokens+2 { // usage and [DONE]
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
				if last = at; i == 0 {
					mu.Lock()
					first = append(first, at)
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if len(first) != streams {
		t.Fatalf("%d streams", len(first))
	}
	prompt, _ := json.Marshal(order{}.String())
	if events := ask(t, url+"/v1/chat/completions",
		fmt.Sprintf(`{"messages":[{"role":"user","content":%s}],"stream":true,"max_tokens":100}`,
			prompt)); len(events) != 102 {
		t.Errorf("an answer at once has %d events", len(events))
	}
}

// TestPhases schedules streams that begin together, spread over their interval or in step.
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

// TestClock compares the clock with the system's, which other processes read too.
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
