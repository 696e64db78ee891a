package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/client/testkit"
)

const ask = `{"model":"Qwen2-7B","messages":[{"role":"user","content":"How are you?"}],"max_tokens":8,"ignore_eos":true`

// Requests and whole answers, of servers with options; of the demo, with its prefix cache.
func TestRequests(t *testing.T) {
	testkit.CheckCases(t, "*.txt", func(t *testing.T, text string, _ bool) string {
		options, requests, _ := strings.Cut(text, "\n")
		var o Options
		if err := json.Unmarshal([]byte(options), &o); err != nil {
			t.Fatal(err, options)
		}
		c := demoConfig(t)
		c.PrefixCache = true
		var told strings.Builder
		inBubble(t, c, o, func(t *testing.T, b *bubble) {
			header := "Anthropic-Version: 2023-06-01"
			for line := range strings.Lines(requests) {
				method, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				if strings.HasSuffix(method, ":") {
					header = method + " " + rest
					continue
				}
				path, body, _ := strings.Cut(rest, " ")
				status, answer := b.fetch(method, path, body, header)
				header = "Anthropic-Version: 2023-06-01"
				answer = strings.ReplaceAll(strings.TrimSuffix(answer, "\n"), "\n", "\n    ")
				fmt.Fprintf(&told, "  %s %s\n    %s\n", method, path, strings.TrimSpace(fmt.Sprint(status, " ", answer)))
			}
		})
		return told.String()
	})
}

// TestServe uses a real connection.
func TestServe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url, wait, err := Serve(ctx, "127.0.0.1:0", New(start(t, demoConfig(t)), Options{}))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(ask+"}"))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	cancel()
	if err := wait(); err != nil {
		t.Errorf("after the context's end: %v", err)
	}
	if _, _, err := Serve(t.Context(), "127.0.0.1:-1", nil); err == nil {
		t.Error("listened on port -1")
	}
}

// TestEmptiedCache empties the prefix cache, as each engine does it, and not while a request runs.
func TestEmptiedCache(t *testing.T) {
	for engine, e := range map[string]struct {
		path        string
		refuses     int
		refused, ok string
	}{
		vllm:   {"/reset_prefix_cache", http.StatusOK, `{"success":false}`, `{"success":true}`},
		sglang: {"/flush_cache", http.StatusBadRequest, "Flush cache failed.", "Cache flushed."},
	} {
		c := demoConfig(t)
		c.PrefixCache = true
		inBubble(t, c, Options{Engine: engine}, func(t *testing.T, b *bubble) {
			text := strings.Repeat("river stone ", 100)
			prompt := `{"messages":[{"role":"user","content":"` + text + `"}],"max_tokens":4,"ignore_eos":true}`
			cached := func() int {
				_, text := b.fetch("POST", "/v1/chat/completions", prompt, "")
				var c chunk
				if err := json.Unmarshal([]byte(text), &c); err != nil || c.Usage == nil {
					t.Fatal(err, text)
				}
				return c.Usage.PromptDetails.CachedTokens
			}
			cold, warm := cached(), cached()
			running, err := b.engine.Submit(sim.Request{PromptTokens: 64, OutputTokens: 50}, func(int, time.Time) {})
			if err != nil {
				t.Fatal(err)
			}
			empty := func(want int, said string) {
				if status, text := b.fetch("POST", e.path, "", ""); status != want || !strings.Contains(text, said) {
					t.Errorf("%s: %d %s, want %d %s", engine, status, text, want, said)
				}
			}
			empty(e.refuses, e.refused) // while a request runs
			<-running.Done()
			time.Sleep(time.Second)
			still := cached()
			time.Sleep(time.Second)
			empty(http.StatusOK, e.ok)
			if emptied := cached(); cold > 0 || warm < 100 || still < 100 || emptied > 0 {
				t.Errorf("%s: %v tokens were cached at first, then %v, %v after a refusal, and %v once the cache was emptied",
					engine, cold, warm, still, emptied)
			}
		})
	}
}
