package server

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/client/testkit"
)

const ask = `{"model":"Qwen2-7B","messages":[{"role":"user","content":"How are you?"}],"max_tokens":8,"ignore_eos":true`

// Requests and their answers: the status, and a part of the text.
func TestRequests(t *testing.T) {
	chat := "POST /v1/chat/completions " + ask + "}"
	type row struct {
		request, header string
		status          int
		want            string
	}
	for _, server := range []struct {
		options Options
		rows    []row
	}{
		{Options{}, []row{
			{"GET /health", "", 200, ""},
			{"GET /version", "", 200, `{"version":"0.11.0+sim"}`},
			{"GET /v1/models", "", 200, `"id":"Qwen2-7B"`},
			{"GET /v1/models", "", 200, `"max_model_len":32768`},
			{"GET /v1/models", "", 200, `"owned_by":"vllm"`},
			{"GET /nowhere", "", 404, "not found"},
			{"GET /v1/completions", "", 405, "Method Not Allowed"},
			{"POST /reset_prefix_cache", "", 200, `{"success":true}`},
			{"POST /flush_cache", "", 404, "not found"},
			{`POST /tokenize {"prompt":"Hello world"}`, "", 200, `"count":3`},
			{`POST /tokenize {"model":"Qwen2-7B","messages":[{"role":"system","content":"x"}]}`, "", 200, `"count":9`},
			{`POST /tokenize {"model":"x","prompt":"a"}`, "", 404, "does not exist"},
			{"POST /tokenize {", "", 400, "not a valid request"},
			{`POST /v1/completions {"model":"x","prompt":"a"}`, "", 404,
				`{"error":{"code":404,"message":"The model ` + "`x`" + ` does not exist.","param":null,"type":"NotFoundError"}}`},
			{`POST /v1/completions {"prompt":`, "", 400, "BadRequestError"},
			{`POST /v1/completions {"prompt":7}`, "", 400, "prompt must be"},
			{`POST /v1/completions {"prompt":["a","b"]}`, "", 400, "prompt must be"},
			{`POST /v1/completions {"prompt":[999999]}`, "", 400, "out of vocabulary"},
			{`POST /v1/completions {"prompt":""}`, "", 400, "empty"},
			{`POST /v1/completions {"prompt":"a","max_tokens":0}`, "", 400, "max_tokens must be at least 1"},
			{`POST /v1/completions {"prompt":"a","max_tokens":3,"min_tokens":4}`, "", 400, "min_tokens"},
			{`POST /v1/completions {"prompt":"a","max_tokens":40000}`, "", 400, "maximum context length is 32768 tokens"},
			{`POST /v1/completions {"prompt":"one two three"}`, "", 200, `"prompt_tokens":3`}, // all forms of a prompt
			{`POST /v1/completions {"prompt":["one two three"]}`, "", 200, `"prompt_tokens":3`},
			{`POST /v1/completions {"prompt":[7,8,9]}`, "", 200, `"prompt_tokens":3`},
			{`POST /v1/completions {"prompt":[[7,8,9]]}`, "", 200, `"prompt_tokens":3`},
			{`POST /v1/chat/completions {"messages":[{"role":"user","content":"a b"}]}`, "", 200, `"prompt_tokens":23`},
			{`POST /v1/chat/completions {"messages":[{"role":"user","content":` +
				`[{"type":"text","text":"a"},{"type":"text","text":" b"}]}]}`,
				"", 200, `"prompt_tokens":23`},
			{"POST /v1/chat/completions {}", "", 400, "messages"},
			{`POST /v1/chat/completions {"messages":[{"role":"user","content":5}]}`, "", 400, "content"},
			{chat, "X-Sim-Fault: 500", 500, `{"error":{"code":500,`},
			{chat, "X-Sim-Fault: 429", 429, `{"error":{"code":"rate_limit_exceeded"`},
			{chat, "X-Sim-Fault: html", 200, "<!DOCTYPE html>"},
			{chat, "X-Sim-Fault: error", 500, `"error":`},
			{chat, "X-Sim-Fault: nonsense", 400, "no fault is called"},
		}},
		{Options{Engine: sglang}, []row{
			{"GET /v1/models", "", 200, `"owned_by":"sglang"`},
			{"GET /v1/models", "", 200, `"id":"Qwen2-7B"`},
			{"GET /version", "", 404, ""},
			{"GET /api/version", "", 404, ""},
		}},
		{Options{APIKey: "secret"}, []row{
			{"GET /v1/models", "", 401, `"error":{"code":"invalid_api_key"`},
			{"GET /v1/models", "Authorization: Bearer wrong", 401, `"error":{"code":"invalid_api_key"`},
			{"GET /v1/models", "Authorization: Bearer secret", 200, ""},
			{"GET /health", "", 200, ""},
		}},
		{Options{Strict: true}, []row{
			{`POST /v1/completions {"prompt":"a","max_tokens":2,"ignore_eos":true}`, "", 400, `"param":"ignore_eos"`},
			{`POST /v1/completions {"prompt":"a","max_tokens":2,"min_tokens":4}`, "", 400, `"param":"min_tokens"`},
			{`POST /v1/completions {"prompt":"a","max_tokens":2,"stream_options":{"include_usage":true,` +
				`"continuous_usage_stats":true}}`,
				"", 400, `"param":"stream_options.continuous_usage_stats"`},
			{`POST /v1/completions {"prompt":"a","temperature":0,"stream_options":{"include_usage":true}}`, "", 200, `"usage"`},
			{`POST /v1/completions {"prompt":"a",}`, "", 400, "not a JSON object"},
		}},
	} {
		inBubble(t, demoConfig(t), server.options, func(t *testing.T, b *bubble) {
			for _, tc := range server.rows {
				method, rest, _ := strings.Cut(tc.request, " ")
				path, body, _ := strings.Cut(rest, " ")
				status, got := b.fetch(method, path, body, tc.header)
				if status != tc.status || !strings.Contains(got, tc.want) {
					t.Errorf("%s %s: %d %s; want %d and %s", tc.request, tc.header, status, got, tc.status, tc.want)
				}
			}
		})
	}
}

func TestMetrics(t *testing.T) {
	c := demoConfig(t)
	c.PrefixCache = true
	inBubble(t, c, Options{}, func(t *testing.T, b *bubble) {
		for range 2 {
			b.fetch("POST", "/v1/completions", `{"prompt":"`+strings.Repeat("a ", 40)+`","max_tokens":5,"ignore_eos":true}`, "")
		}
		_, text := b.fetch("GET", "/metrics", "", "")
		testkit.CheckGolden(t, "metrics.golden", []byte(text))
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
