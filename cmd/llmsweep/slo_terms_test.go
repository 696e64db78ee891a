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

	n *atomic.Int64 // of requests so far
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
// and says so in words. Judged again by a limit that each request keeps, a run meets it.
func TestTermsOfKnownServers(t *testing.T) {
	const ms, met, missed, undecided = time.Millisecond, console.Done, console.Missed, console.Undecided
	type server = scripted
	type test struct {
		server server // beside a first token after 50 ms and 20 tokens 20 ms apart
		terms  string // separated by spaces
		code   int
		says   string // where it is undecided, why the value is n/a
	}
	each(t, map[string]test{
		"far from 20 tok/s":       {server{}, "speed:p5>20tok/s ttft_due:p50<1s", met, ""},
		"50 tok/s and not 51":     {server{}, "speed:p5>51tok/s", missed, "speed:p5 is 50tok/s"},
		"one chunk has no speed":  {server{perChunk: 20}, "speed:p5>1tok/s", undecided, "answers come in chunks"},
		"no usage":                {server{noUsage: true}, "speed:p5>1tok/s", undecided, "the server does not count"},
		"no stalls":               {server{stalls: 1, stallFor: 300 * ms}, "stalls<2%", met, ""},
		"one in ten stalls":       {server{stalls: 10, stallFor: 600 * ms}, "stalls<2%", missed, "stalls is 10"},
		"all stall":               {server{stalls: 1, stallFor: 300 * ms}, "stalls<9%,stall=250ms", missed, "stalls is 100%"},
		"stalls in one chunk":     {server{perChunk: 20}, "stalls<2%", undecided, "answers come in chunks"},
		"thinks for longer":       {server{think: 10}, "ttfa:p90<240ms", missed, "ttfa:p90 is 250ms"},
		"does not think":          {server{}, "ttfa:p90<1s", undecided, "no answer began with thinking"},
		"what is refused is slow": {server{refuses: 10}, "ttft:p95<100ms", missed, "ttft:p95 is > 50"},
		"refuses few":             {server{refuses: 200}, "ttft:p95<200ms", met, ""},
		"and speed":               {server{refuses: 10}, "speed:p5>10tok/s", missed, "speed:p5 is < 50"},
		// Of four turns one in twenty is slow, so that one in five sessions has one.
		"most sessions are good": {server{slow: 21, slowTTFT: time.Second}, "sessions>60%", met, ""},
		"not all sessions are":   {server{slow: 21, slowTTFT: time.Second}, "sessions>95%", missed, "sessions is 8"},
	}, func(t *testing.T, w *world, c test) {
		c.server.ttft, c.server.gap, c.server.answers, c.server.n = 50*ms, 20*ms, 20, new(atomic.Int64)
		url, _ := w.server(&c.server)
		args := []string{"run", url, "--api", "chat", "--model", "m", "--concurrency", "8", "--requests", "200",
			"--output-tokens", "20", "--prompt-tokens", "8", "--warmup", "1", "--no-selftest", "--max-error-rate", "1",
			"--out", w.path("run")}
		for term := range strings.FieldsSeq(c.terms) {
			args = append(args, "--slo", term)
		}
		if c.server.slow > 0 {
			args = append(args, "--slo", "ttft:p90<100ms", "--requests", "100", "--turns", "4", "--turn-tokens", "8")
		}
		w.exits(c.code, c.says, args...)
		if out, _ := w.must("report", w.path("run"), "--lang", "zh"); strings.Contains(out, "NaN") {
			t.Error(out)
		}
		if c.server.slow > 0 {
			out, _ := w.must("report", w.path("run"), "--slo", "ttft:p90<2s", "--slo", "sessions>90%")
			if !strings.Contains(out, "concurrent@8 meets") {
				t.Error(out)
			}
		}
	})
}
