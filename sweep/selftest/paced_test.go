package selftest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// pacedStart starts a server and returns its URL.
func pacedStart(t *testing.T, c PacedConfig) (*PacedServer, string) {
	t.Helper()
	l, err := ListenPaced("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := NewPaced(c)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		l.Close()
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return s, "http://" + l.Addr().String()
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

// TestTruth compares what the server records with what it was asked for, in each phase. The machine may be busy: times are only
// bounded from below.
func TestTruth(t *testing.T) {
	for _, phase := range []string{PacedArrival, PacedUniform, PacedInStep} {
		t.Run(phase, func(t *testing.T) {
			const streams, tokens = 8, 5
			_, url := pacedStart(t, PacedConfig{TTFT: 20 * time.Millisecond, ITL: 5 * time.Millisecond, Phase: phase, Quantum: 100 * time.Microsecond, Model: "m", RoleChunk: true})
			var all sync.WaitGroup
			for i := range streams {
				all.Go(func() {
					path, prompt := "/v1/chat/completions", `"messages":[{"role":"user","content":"hello"}]`
					if i%2 == 1 {
						path, prompt = "/v1/completions", `"prompt":"hello"`
					}
					events := ask(t, url+path, fmt.Sprintf(`{%s,"stream":true,"max_tokens":%d,"stream_options":{"include_usage":true}}`, prompt, tokens))
					want := tokens + 2 // usage and [DONE]
					if i%2 == 0 {
						want++ // the role
					}
					if len(events) != want || events[len(events)-1] != "[DONE]" || !strings.Contains(events[len(events)-2], `"completion_tokens":5`) {
						t.Errorf("%s: %q", path, events)
					}
				})
			}
			all.Wait()
			var truth PacedTruth
			body := get(t, url+"/truth?last=6")
			if err := json.Unmarshal([]byte(body), &truth); err != nil {
				t.Fatal(err)
			}
			if truth.N != 6 || truth.Completed != streams || truth.Arrived != streams || truth.Aborted != 0 || truth.ITL.N != 6*(tokens-1) || truth.Peak < 1 {
				t.Errorf("%s", body)
			}
			if truth.TTFT.P50 < 20 || truth.Latency.P50 < 40 { // no token is sent before it is due
				t.Errorf("%s", body)
			}
			if lines := strings.Count(get(t, url+"/raw"), `"tokens":5}`); lines != streams {
				t.Errorf("%d lines", lines)
			}
			get(t, url+"/reset")
			if err := json.Unmarshal([]byte(get(t, url+"/truth")), &truth); err != nil || truth.Completed != 0 {
				t.Errorf("%+v, %v", truth, err)
			}
		})
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, r.Status, err)
	}
	return string(b)
}

// TestAnswersThatAreNotStreamed has whole answers and errors.
func TestAnswersThatAreNotStreamed(t *testing.T) {
	_, url := pacedStart(t, PacedConfig{Model: "m", Tokens: 3})
	r, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var answer struct {
		Usage struct {
			Tokens int `json:"completion_tokens"`
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil || answer.Usage.Tokens != 3 {
		t.Errorf("%+v, %v", answer, err)
	}
	for path, want := range map[string]int{"/v1/chat/completions": 400, "/nothing": 404} {
		r, err := http.Post(url+path, "application/json", strings.NewReader("{"))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, r.StatusCode, want)
		}
	}
}

// TestOrders has streams whose tokens tell when they were sent.
func TestOrders(t *testing.T) {
	_, url := pacedStart(t, PacedConfig{TTFT: 5 * time.Millisecond, Model: "m"})
	const streams, tokens = 3, 4
	var mu sync.Mutex
	var first []int64
	var all sync.WaitGroup
	for range streams {
		all.Go(func() {
			prompt, _ := json.Marshal(PacedOrder{Phase: PacedInStep, Every: 3 * time.Millisecond, Streams: streams}.String())
			events := ask(t, url+"/v1/chat/completions", fmt.Sprintf(`{"messages":[{"role":"user","content":%s}],"stream":true,"max_tokens":%d}`, prompt, tokens))
			if len(events) != tokens+1 {
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
	prompt, _ := json.Marshal(PacedOrder{}.String())
	if events := ask(t, url+"/v1/chat/completions", fmt.Sprintf(`{"messages":[{"role":"user","content":%s}],"stream":true,"max_tokens":100}`, prompt)); len(events) != 102 {
		t.Errorf("an answer at once has %d events", len(events))
	}
}

// TestPhases schedules streams that begin together, spread over their interval or in step.
func TestPhases(t *testing.T) {
	for phase, apart := range map[string]int64{PacedUniform: int64(10 * time.Millisecond), PacedInStep: 0} {
		c := PacedConfig{}
		p := newPacer(c, newPacedClock(), newTruth(c, newPacedClock()))
		var all []*stream
		for range 4 {
			p.begin()
			s := &stream{order: PacedOrder{Phase: phase, Streams: 4}, every: 40 * time.Millisecond}
			all = append(all, s)
			p.take(s)
		}
		if len(p.running) > 0 {
			t.Fatalf("%s: %d have not waited for the rest", phase, len(p.running))
		}
		p.begin()
		for i, s := range all {
			if got := s.due - all[0].due; got != int64(i)*apart {
				t.Errorf("%s: stream %d is %d ns behind the first", phase, i, got)
			}
		}
	}
}

func TestInstant(t *testing.T) {
	for nanos, want := range map[int64]string{0: "0000000000000000000", 1234567: "0000000000001234567", math.MaxInt64: "9223372036854775807"} {
		b := []byte(strings.Repeat("9", instantDigits+2))
		if putInstant(b[1:], nanos); string(b) != "9"+want+"9" {
			t.Errorf("%d is %s", nanos, b)
		}
	}
}

// TestClock compares the clock with the system's, which other processes read too.
func TestClock(t *testing.T) {
	c := newPacedClock()
	if before, now, after := monotonic(), c.Now(), monotonic(); now < before-int64(time.Millisecond) || now > after+int64(time.Millisecond) {
		t.Errorf("%d is not between %d and %d", now, before, after)
	}
	if got := c.Of(c.at.Add(time.Hour)) - c.nanos; got != int64(time.Hour) {
		t.Errorf("an hour is %d ns", got)
	}
	if got := c.Time(c.nanos + 5); got.Sub(c.at) != 5 {
		t.Errorf("5 ns later is %v", got)
	}
}
