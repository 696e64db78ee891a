package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"llmsweep/cmd/llmsweep/console"
)

// scripted is a server whose answers take known times. Each rule holds for one in its number of requests; 0 is never.
type scripted struct {
	ttft, gap      time.Duration
	think, answers int // tokens
	perChunk       int
	noUsage        bool
	stalls         int           // pauses once for stallFor
	stallFor       time.Duration // in the middle of the answer
	slow           int           // every nth request has a first token after slowTTFT
	slowTTFT       time.Duration
	refuses        int // every nth request is refused

	n atomic.Int64
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	n := int(s.n.Add(1))
	every := func(k int) bool { return k > 0 && n%k == 0 }
	if every(s.refuses) {
		time.Sleep(time.Millisecond)
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(field, text string) {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{%q:%q}}]}\n\n", field, text)
		w.(http.Flusher).Flush()
	}
	time.Sleep(s.ttft)
	if every(s.slow) {
		time.Sleep(s.slowTTFT - s.ttft)
	}
	for range s.think {
		send("reasoning_content", "hm ")
		time.Sleep(s.gap)
	}
	perChunk := max(1, s.perChunk)
	for i := 0; i < s.answers; i += perChunk {
		if i > 0 {
			time.Sleep(s.gap)
		}
		if every(s.stalls) && i == s.answers/2 {
			time.Sleep(s.stallFor)
		}
		send("content", strings.Repeat("word ", perChunk))
	}
	if !s.noUsage {
		fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":%d}}\n\n", s.think+
			s.answers)
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// TestTermsOfKnownServers judges servers whose times are known: each term is met, missed or not known as it must be,
// and says so in words.
func TestTermsOfKnownServers(t *testing.T) {
	const met, missed, undecided = 0, console.Missed, console.Undecided
	plain := func() *scripted {
		return &scripted{ttft: 50 * time.Millisecond, gap: 20 * time.Millisecond, answers: 20}
	}
	with := func(change func(s *scripted)) *scripted {
		s := plain()
		change(s)
		return s
	}
	for name, c := range map[string]struct {
		server *scripted
		terms  string // separated by spaces
		code   int
		says   string
	}{
		"far from 20 tok/s":   {plain(), "speed:p5>20tok/s", met, ""},
		"50 tok/s and not 51": {plain(), "speed:p5>51tok/s", missed, "speed:p5 is 50tok/s"},
		"one chunk has no speed": {with(func(s *scripted) { s.perChunk = 20 }), "speed:p5>1tok/s", undecided,
			"n/a, because answers come in chunks"},
		"no usage": {with(func(s *scripted) { s.noUsage = true }), "speed:p5>1tok/s", undecided,
			"n/a, because the server does not count"},
		"no stalls": {with(func(s *scripted) { s.stalls, s.stallFor = 1, 300*time.Millisecond }), "stalls<1%",
			met, ""},
		"one in ten stalls": {with(func(s *scripted) { s.stalls, s.stallFor = 10, 600*time.Millisecond }), "stalls<1%",
			missed, "stalls is 10"},
		"but for no second": {with(func(s *scripted) { s.stalls, s.stallFor = 10, 600*time.Millisecond }),
			"stalls<1%,stall=1s", met, ""},
		"all stall for 250 ms": {with(func(s *scripted) { s.stalls, s.stallFor = 1, 300*time.Millisecond }),
			"stalls<50%,stall=250ms", missed, "stalls is 100%"},
		"stalls in one chunk": {with(func(s *scripted) { s.perChunk = 20 }), "stalls<1%", undecided,
			"n/a, because answers come in chunks"},
		"thinks for 200 ms":       {with(func(s *scripted) { s.think = 10 }), "ttfa:p90<260ms", met, ""},
		"thinks for longer":       {with(func(s *scripted) { s.think = 10 }), "ttfa:p90<240ms", missed, "ttfa:p90 is 250ms"},
		"does not think":          {plain(), "ttfa:p90<1s", undecided, "n/a, because no answer began with thinking"},
		"refuses what it is slow": {with(func(s *scripted) { s.refuses = 10 }), "ttft:p95<100ms", missed, "ttft:p95 is > 50"},
		"refuses few":             {with(func(s *scripted) { s.refuses = 400 }), "ttft:p95<200ms", met, ""},
		"and latency": {with(func(s *scripted) { s.refuses = 10 }), "latency:p95<1s", missed,
			"latency:p95 is > "},
		"and speed":          {with(func(s *scripted) { s.refuses = 10 }), "speed:p5>10tok/s", missed, "speed:p5 is < 50"},
		"and gaps":           {with(func(s *scripted) { s.refuses = 10 }), "itl:p95<100ms", missed, "itl:p95 is > 20"},
		"sessions are alone": {plain(), "ttft:p95<100ms sessions>90%", console.WrongUsage, "give --turns"},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				url, stop := w.server(c.server)
				defer stop()
				code, out, errs := w.llmsweep(w.judged(url, "run", c.terms)...)
				if code != c.code || !strings.Contains(out+errs, c.says) {
					t.Fatalf("exit %d, want %d with %q:\n%s\n%s", code, c.code, c.says, out, errs)
				}
				if code == console.WrongUsage {
					return
				}
				for _, args := range [][]string{{"report", w.path("run"), "--lang", "zh"}, {"report", w.path("run"), "--format",
					"html", "-o", w.path("page.html")}} {
					if out, _ := w.must(args...); code == undecided && c.says != "" && args[2] != "-o" &&
						strings.Contains(out, "NaN") {
						t.Errorf("%v: %s", args, out)
					}
				}
			})
		})
	}
}

// judged is a run of 400 requests, one at a time in 8 streams, that is judged by terms.
func (w *world) judged(url, dir, terms string, more ...string) []string {
	args := []string{"run", url, "--api", "chat", "--model", "m", "--concurrency", "8", "--requests", "400",
		"--output-tokens", "20", "--prompt-tokens", "8", "--warmup", "1",
		"--no-selftest", "--max-error-rate", "1", "--out", w.path(dir)}
	for term := range strings.FieldsSeq(terms) {
		args = append(args, "--slo", term)
	}
	return append(args, more...)
}

// TestSessionsAsATerm judges sessions of four turns of which one in twenty turns is slow: one in five sessions has one.
func TestSessionsAsATerm(t *testing.T) {
	for term, want := range map[string]int{"sessions>60%": 0, "sessions>95%": console.Missed} {
		t.Run(term, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				url, stop := w.server(&scripted{ttft: 50 * time.Millisecond, gap: 20 * time.Millisecond, answers: 20, slow: 21,
					slowTTFT: time.Second})
				defer stop()
				code, out, errs := w.llmsweep(w.judged(url, "run", "ttft:p90<100ms "+term, "--turns", "4", "--turn-tokens", "8")...)
				if code != want {
					t.Errorf("%s: exit %d\n%s\n%s", term, code, out, errs)
				}
				if want != 0 && !strings.Contains(out+errs, "sessions is 8") {
					t.Errorf("%s\n%s", out, errs)
				}
				// Judged again by a limit that each turn keeps, all sessions are good.
				if again, _ := w.must("report", w.path("run"), "--slo", "ttft:p90<2s", "--slo",
					"sessions>95%"); !strings.Contains(again, "concurrent@8 meets") {
					t.Error(again)
				}
			})
		})
	}
}
