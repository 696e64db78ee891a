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

// statuses sends requests at once, and returns their statuses in order, and the last refusal's Retry-After.
func (b *bubble) statuses(n int) (all []int, retry string) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			resp := b.do("POST", "/v1/completions", ask32, "")
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			mu.Lock()
			all = append(all, resp.StatusCode)
			if resp.StatusCode != http.StatusOK {
				retry = resp.Header.Get("Retry-After")
			}
			mu.Unlock()
		})
	}
	wg.Wait()
	slices.Sort(all)
	return all, retry
}

func TestRefusalsOverHTTP(t *testing.T) {
	for _, c := range []struct {
		habit  string
		ok     int // of 20 at once
		status int
		retry  string
	}{
		{"sheds:8", 16, 429, ""},
		{"sheds:2,503", 10, 503, ""},
		{"rate-limited:60,3", 3, 429, "1"},
		{"rate-limited:6,3", 3, 429, "10"},
	} {
		inBubble(t, habitual(t, c.habit), Options{}, func(t *testing.T, b *bubble) {
			all, retry := b.statuses(20)
			for i, status := range all {
				if want := map[bool]int{true: 200, false: c.status}[i < c.ok]; status != want {
					t.Errorf("%s: statuses %v, want %d times 200 and else %d", c.habit, all, c.ok, c.status)
					break
				}
			}
			if retry != c.retry {
				t.Errorf("%s: Retry-After %q, want %q", c.habit, retry, c.retry)
			}
		})
	}
}

func TestARefusalTakesItsTime(t *testing.T) {
	inBubble(t, habitual(t, "rate-limited:60,1"), Options{}, func(t *testing.T, b *bubble) {
		b.mustStream("/v1/completions", ask32, "")
		began := time.Now()
		status, text := b.fetch("POST", "/v1/completions", ask32, "")
		if status != 429 || time.Since(began) != sim.RefusalTime || !strings.Contains(text, "rate_limit_exceeded") {
			t.Errorf("%d after %v: %s", status, time.Since(began), text)
		}
	})
}

func TestDropsOverHTTP(t *testing.T) {
	inBubble(t, habitual(t, "drops:3,500ms"), Options{}, func(t *testing.T, b *bubble) {
		for i := range 9 {
			began := time.Now()
			resp, err := b.client.Post("http://sim/v1/completions", "application/json", strings.NewReader(ask32))
			if dropped := i%3 == 2; (err != nil) != dropped {
				t.Errorf("request %d: %v", i+1, err)
			} else if dropped && time.Since(began) != 500*time.Millisecond {
				t.Errorf("request %d was dropped after %v, want 500 ms", i+1, time.Since(began))
			}
			if err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}
	})
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
			if !slices.Equal(bursts, want) {
				t.Errorf("%s: bursts of %v tokens, want %v", habit, bursts, want)
			}
		})
	}
}

// TestACachedAnswerComesAtOnce also covers answers in one piece.
func TestACachedAnswerComesAtOnce(t *testing.T) {
	inBubble(t, habitual(t, "caches:0.5"), Options{}, func(t *testing.T, b *bubble) {
		cached := 0
		for range 200 {
			began := time.Now()
			if status, _ := b.fetch("POST", "/v1/completions", strings.Replace(ask32, "true}", "false}", 1), ""); status != 200 {
				t.Fatal(status)
			}
			switch time.Since(began) {
			case sim.CacheTime:
				cached++
			case 410 * time.Millisecond:
			default:
				t.Fatalf("an answer after %v", time.Since(began))
			}
		}
		if cached < 75 || cached > 125 { // 100, standard deviation 7
			t.Errorf("%d of 200 answers from the cache, want about half", cached)
		}
	})
}

// TestPausesStallAllStreams compares the gaps of streams that run together.
func TestPausesStallAllStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, habitual(t, "pauses:1s,300ms"))
		const streams = 4
		var instants [streams][]time.Time
		var wg sync.WaitGroup
		for i := range streams {
			wg.Go(func() {
				l.Generate(t.Context(), sim.Request{PromptTokens: 10, OutputTokens: 20000},
					func(_ int, at time.Time) { instants[i] = append(instants[i], at) })
			})
		}
		wg.Wait()
		pauses, lost := 0, time.Duration(0)
		for j := 1; j < len(instants[0]); j++ {
			for i := range streams {
				if instants[i][j] != instants[0][j] {
					t.Fatalf("token %d comes at %v and %v", j, instants[0][j], instants[i][j])
				}
			}
			if gap := instants[0][j].Sub(instants[0][j-1]); gap > 10*time.Millisecond {
				pauses++
				lost += gap - 10*time.Millisecond
			}
		}
		// 200 s of work take 286 s with a pause each second.
		if pauses < 240 || pauses > 330 || lost < time.Duration(pauses)*300*time.Millisecond ||
			lost > time.Duration(pauses)*310*time.Millisecond {
			t.Errorf("%d pauses of %v in all", pauses, lost)
		}
	})
}

// TestSheddingIsNoRateLimit: a server that refuses because too many wait says so, also with status 429, and names no
// rate limit.
func TestSheddingIsNoRateLimit(t *testing.T) {
	for path, ask := range map[string]string{"/v1/completions": ask32,
		"/v1/messages": `{"model":"plain8","max_tokens":32,"messages":[{"role":"user","content":"hello"}]}`} {
		inBubble(t, habitual(t, "sheds:1"), Options{}, func(t *testing.T, b *bubble) {
			refused := make(chan string, 20)
			for range cap(refused) {
				go func() {
					status, text := b.fetch("POST", path, ask, "")
					if status != 429 {
						text = ""
					}
					refused <- text
				}()
			}
			n := 0
			for range cap(refused) {
				if text := <-refused; text != "" {
					n++
					if strings.Contains(text, "rate_limit") || !strings.Contains(text, "overloaded") {
						t.Errorf("%s: %s", path, text)
					}
				}
			}
			if n == 0 {
				t.Errorf("%s: nothing was refused", path)
			}
		})
	}
}
