package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/sim"
)

// habitual is plain8 with habits.
func habitual(t testing.TB, habits ...string) sim.MachineConfig {
	t.Helper()
	c, err := sim.Preset("plain8")
	if err == nil {
		c.Habits, err = sim.ParseHabits(habits)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const ask32 = `{"model":"plain8","prompt":"tell me","max_tokens":32,"ignore_eos":true,"stream":true}`

// What is refused of 20 requests at once: too many that wait name no rate limit, also with status 429.
func TestRefusalsOverHTTP(t *testing.T) {
	const message = `{"model":"plain8","max_tokens":32,"messages":[{"role":"user","content":"hello"}]}`
	for _, c := range []struct {
		habit, path, ask string
		ok, status       int
		retry            string
		text             string
	}{
		{"sheds:8", "/v1/completions", ask32, 16, 429, "", "overloaded"},
		{"sheds:2,503", "/v1/completions", ask32, 10, 503, "", ""},
		{"sheds:1", "/v1/messages", message, 9, 429, "", "overloaded"},
		{"rate-limited:60,3", "/v1/completions", ask32, 3, 429, "1", "rate_limit_exceeded"},
		{"rate-limited:6,3", "/v1/completions", ask32, 3, 429, "10", "rate_limit_exceeded"},
	} {
		inBubble(t, habitual(t, c.habit), Options{}, func(t *testing.T, b *bubble) {
			var ok atomic.Int32
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() {
					resp := b.do("POST", c.path, c.ask, "")
					defer resp.Body.Close()
					text, _ := io.ReadAll(resp.Body)
					if resp.StatusCode == http.StatusOK {
						ok.Add(1)
						return
					}
					limit := strings.Contains(string(text), "rate_limit")
					if resp.StatusCode != c.status || resp.Header.Get("Retry-After") != c.retry ||
						!strings.Contains(string(text), c.text) || limit != (c.retry != "") ||
						time.Since(b.began) != sim.RefusalTime {
						t.Errorf("%s: after %v %s, Retry-After %q: %s", c.habit, time.Since(b.began), resp.Status,
							resp.Header.Get("Retry-After"), text)
					}
				})
			}
			if wg.Wait(); int(ok.Load()) != c.ok {
				t.Errorf("%s: %d were answered, want %d", c.habit, ok.Load(), c.ok)
			}
		})
	}
}

// TestADroppedConnectionSendsNothing looks at a real connection, in real time.
func TestADroppedConnectionSendsNothing(t *testing.T) {
	c := habitual(t, "drops:1,20ms")
	url, _, err := Serve(t.Context(), "127.0.0.1:0", New(start(t, c), Options{}))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	began := time.Now()
	io.WriteString(conn, "POST /v1/completions HTTP/1.1\r\nHost: sim\r\nContent-Length: "+strconv.Itoa(len(ask32))+
		"\r\n\r\n"+ask32)
	got, err := io.ReadAll(conn)
	if took := time.Since(began); len(got) > 0 || err != nil || took < 20*time.Millisecond || took > 2*time.Second {
		t.Errorf("%q, %v after %v; want a closed connection without a byte after 20 ms", got, err, took)
	}
}

func TestFreezesOverHTTP(t *testing.T) {
	inBubble(t, habitual(t, "freezes:200ms"), Options{}, func(t *testing.T, b *bubble) {
		b.client.Timeout = time.Minute
		tokens := 0
		events, err := b.stream("/v1/completions", ask32, "")
		for _, e := range events {
			if e.text() != "" {
				tokens++
			}
		}
		if err == nil || tokens != 11 { // at 100, 110, .. 200 ms
			t.Errorf("%d tokens, and then %v; want 11 and a timeout", tokens, err)
		}
		for _, path := range []string{"/v1/models", "/metrics"} {
			_, err := b.client.Get("http://sim" + path)
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Errorf("%s of a frozen server: %v, want a timeout", path, err)
			}
		}
	})
}

// TestBurstsOverHTTP looks at when a stream's tokens come.
func TestBurstsOverHTTP(t *testing.T) {
	for habit, want := range map[string][]int{ // tokens in each burst
		"batches:8":        {8, 8, 8, 8},
		"batches:20":       {20, 12},
		"batches:100ms":    {11, 11, 10},
		"caches:0.999999":  {32},
		"batches:1000":     {32},
		"drifts:0.1":       slices.Repeat([]int{1}, 32),
		"pauses:1h,10ms":   slices.Repeat([]int{1}, 32),
		"collapses:0.3":    slices.Repeat([]int{1}, 32),
		"rate-limited:600": slices.Repeat([]int{1}, 32),
	} {
		inBubble(t, habitual(t, habit), Options{}, func(t *testing.T, b *bubble) {
			var bursts []int
			var at time.Duration
			for _, e := range b.mustStream("/v1/completions", ask32, "") {
				if e.text() == "" {
					continue
				}
				if len(bursts) == 0 || e.at != at {
					bursts, at = append(bursts, 0), e.at
				}
				bursts[len(bursts)-1]++
			}
			if !slices.Equal(bursts, want) || habit[:6] == "caches" && at != sim.CacheTime {
				t.Errorf("%s: bursts of %v tokens, want %v; the last at %v", habit, bursts, want, at)
			}
		})
	}
}

// TestPausesStallAllStreams compares the gaps of streams that run together.
func TestPausesStallAllStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, habitual(t, "pauses:1s,300ms"))
		var instants [3][]time.Time
		var wg sync.WaitGroup
		for i := range instants {
			wg.Go(func() {
				l.Generate(t.Context(), sim.Request{PromptTokens: 10, OutputTokens: 4000},
					func(_ int, at time.Time) { instants[i] = append(instants[i], at) })
			})
		}
		wg.Wait()
		pauses, lost := 0, time.Duration(0)
		for j := 1; j < len(instants[0]); j++ {
			if gap := instants[0][j].Sub(instants[0][j-1]) - 10*time.Millisecond; gap > 0 {
				pauses++
				lost += gap
			}
		}
		// 40 s of work take 57 s with a pause each second.
		if pauses < 44 || pauses > 70 || lost < time.Duration(pauses)*300*time.Millisecond ||
			lost > time.Duration(pauses)*310*time.Millisecond || !slices.Equal(instants[0], instants[1]) ||
			!slices.Equal(instants[0], instants[2]) {
			t.Errorf("%d pauses of %v in all", pauses, lost)
		}
	})
}
