package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/api"
	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"

	"github.com/google/go-cmp/cmp"
)

// spokenBy returns the APIs of each engine.
func spokenBy() map[string][]string {
	return map[string][]string{
		"vllm":        {"chat", "completions", "responses", "messages"},
		"sglang":      {"chat", "completions", "sglang"},
		"lmdeploy":    {"chat", "completions", "lmdeploy"},
		"llamacpp":    {"chat", "completions", "llamacpp", "responses", "messages"},
		"ollama":      {"chat", "completions", "ollama", "ollama-generate"},
		"tgi":         {"chat", "completions", "tgi"},
		"triton":      {"triton"},
		"triton-vllm": {"triton-vllm"},
		"openai":      {"responses"},
		"anthropic":   {"messages"},
	}
}

// each runs a test for each engine and API.
func each(t *testing.T, test func(t *testing.T, engine, name string)) {
	for engine, apis := range spokenBy() {
		for _, name := range apis {
			t.Run(engine+" "+name, func(t *testing.T) {
				t.Parallel()
				test(t, engine, name)
			})
		}
	}
}

// simulated returns the URL of a fast simulated engine.
func simulated(t testing.TB, o simserver.Options) string {
	s := httptest.NewServer(simulatedHandler(t, o))
	t.Cleanup(s.CloseClientConnections)
	return s.URL
}

// simulatedHandler returns the handler of a fast simulated engine.
func simulatedHandler(t testing.TB, o simserver.Options) http.Handler {
	c, err := sim.Preset("Qwen2-7B/H200x4/int8")
	if err != nil {
		t.Fatal(err)
	}
	c.StepOverhead = 100 * time.Microsecond
	c.PrefixCache = true
	live, err := sim.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(live.Close)
	return simserver.New(live, o)
}

// request24 asks for 24 tokens.
var request24 = &api.Request{
	Messages:     []api.Message{{Role: "user", Content: strings.Repeat("Tell me about the sea.\n", 12)}},
	OutputTokens: 24, KeepText: true,
}

// run24 sends it, and checks what holds for every answer.
func run24(t *testing.T, o Options) *Result {
	t.Helper()
	o.Params.Model = "Qwen2-7B"
	if o.Params.Fields == (api.Fields{}) {
		d, err := api.DialectsByName(o.API)
		if err != nil {
			t.Fatal(err)
		}
		o.Params.Fields = d.Traits().Fields
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdle()
	call, err := c.Prepare(request24)
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	r.Reset(time.Now())
	c.Do(t.Context(), call, &r)
	sum := 0
	for _, n := range r.Counts {
		sum += int(n)
	}
	if len(r.Counts) > 0 && (len(r.Counts) != r.Chunks() || r.Status == StatusOK && sum != r.OutputTokens) {
		t.Errorf("counts %v of %d tokens in %d chunks", r.Counts, r.OutputTokens, r.Chunks())
	}
	if r.Status == StatusOK && (r.FirstToken < r.Headers || r.LastToken < r.FirstToken || r.End < r.LastToken) {
		t.Errorf("instants out of order: %+v", r)
	}
	return &r
}

// Each API of each engine gives as many tokens as asked, with counts, and the same text whatever the size of chunks.
func TestEngines(t *testing.T) {
	each(t, func(t *testing.T, engine, name string) {
		var texts []string
		for _, o := range []simserver.Options{
			{}, {ChunkTokens: 3}, {Texts: "pieces"}, {Texts: "cumulative"}, {Texts: "cumulative", ChunkTokens: 5, LogProbs: true},
		} {
			o.Engine, o.FullLength = engine, true
			r := run24(t, Options{URL: simulated(t, o), API: name})
			checkAnswer(t, engine, name, &o, r)
			texts = append(texts, string(r.Text))
		}
		if texts[0] == "" || len(slices.Compact(texts)) != 1 {
			t.Errorf("not one text: %q", texts)
		}
	})
}

// checkAnswer checks an answer of 24 tokens.
func checkAnswer(t *testing.T, engine, name string, o *simserver.Options, r *Result) {
	t.Helper()
	chunks := 24
	if o.ChunkTokens > 1 && name != "tgi" {
		chunks = 1 + (23+o.ChunkTokens-1)/o.ChunkTokens
	}
	type answer struct {
		Status              Status
		Message             string
		Finish, Source      string
		Output, Chunks, Sum int
		Reasoning           int
		Prompt, FirstAnswer bool
	}
	want := answer{StatusOK, "", "length", SourceServer, 24, chunks, 0, api.Unknown, true, true}
	switch {
	case name == "triton" && o.LogProbs:
		want.Finish, want.Source, want.Prompt = "", SourceIDs, false
	case name == "triton":
		want.Finish, want.Source, want.Prompt, want.Output = "", SourceChunks, false, chunks
	case name == "responses" && engine == "llamacpp":
		want.Finish = "stop" // llama-server calls a cut answer "completed"
	case name == "responses":
		want.Reasoning = 0
	}
	tells := slices.Contains([]string{"sglang", "lmdeploy", "llamacpp", "triton-vllm"}, name) || name == "triton" && o.LogProbs
	if tells && chunks < 24 {
		want.Sum = 24
	}
	got := answer{r.Status, r.Message, r.Finish, r.TokenSource, r.OutputTokens, r.Chunks(), 0, r.ReasoningTokens,
		r.PromptTokens > 50 && r.PromptTokens < 200, r.FirstAnswer == r.FirstToken}
	for _, n := range r.Counts {
		got.Sum += int(n)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%+v -want +got\n%s", *o, d)
	}
}

// Reasoning is recognised and counted, and can be turned off where an API allows it.
func TestEnginesThink(t *testing.T) {
	no := false
	each(t, func(t *testing.T, engine, name string) {
		o := simserver.Options{Engine: engine, FullLength: true, Think: 5, NoUsage: name == "ollama"}
		url := simulated(t, o)
		r := run24(t, Options{URL: url, API: name})
		d, _ := api.DialectsByName(name)
		thinks := d.Traits().Thinks
		later := r.FirstAnswer > r.FirstToken || thinks && r.Shared.Has(0) // received with the next token
		if thinks != (r.ReasoningTokens == 5) || thinks != later || r.Status != StatusOK {
			t.Errorf("%s: %d reasoning tokens of %d, answer after %v", r.Status, r.ReasoningTokens, r.OutputTokens, r.FirstAnswer-r.FirstToken)
		}
		p := api.Params{Think: &no, Fields: d.Traits().Fields}
		p.Fields.ReasoningEffort = engine == "ollama"
		r = run24(t, Options{URL: url, API: name, Params: p})
		if r.ReasoningTokens > 0 || r.FirstAnswer != r.FirstToken || r.Status != StatusOK {
			t.Errorf("told not to think: %s, %d reasoning tokens", r.Status, r.ReasoningTokens)
		}
	})
}

// The tokens of a tool call count as those of a text, from its name on. They are no part of the answer's text.
func TestEnginesCallTools(t *testing.T) {
	const function = `"name":"find","parameters":{"type":"object"}`
	bodies := map[string]string{
		"chat":      `{"tools":[{"type":"function","function":{` + function + `}}],"tool_choice":"required"}`,
		"responses": `{"tools":[{"type":"function",` + function + `}],"tool_choice":{"type":"function","name":"find"}}`,
		"messages":  `{"tools":[{"name":"find","input_schema":{"type":"object"}}],"tool_choice":{"type":"any"}}`,
	}
	each(t, func(t *testing.T, engine, name string) {
		body, ok := bodies[name]
		if !ok {
			return
		}
		for _, o := range []simserver.Options{{FullLength: true}, {FullLength: true, ChunkTokens: 4, Think: 6}, {}} {
			o.Engine = engine
			r := run24(t, Options{URL: simulated(t, o), API: name, Params: api.Params{Extra: []byte(body), Fields: api.Fields{StreamUsage: true}}})
			finish := "length"
			if r.OutputTokens < 24 || name == "responses" && engine == "llamacpp" {
				finish = "tool_calls"
			}
			chunks := r.OutputTokens
			if o.ChunkTokens == 4 {
				chunks = 3 + 5 // 1+4+1 tokens of reasoning, and 4+4+4+4+2 of the call
				if name != "chat" {
					chunks++ // the name is an event of its own
				}
			}
			if r.Status != StatusOK || r.Finish != finish || r.Chunks() != chunks || len(r.Text) > 0 || r.OutputTokens < 5 {
				t.Errorf("%s %s, finish %q, %d chunks of %d tokens (want %d), text %q", r.Status, r.Message, r.Finish, r.Chunks(), r.OutputTokens, chunks, r.Text)
			}
			if (r.ReasoningTokens > 0) != (o.Think > 0) {
				t.Errorf("%d reasoning tokens", r.ReasoningTokens)
			}
		}
	})
}

// Each API sends its key in its own header, and as a bearer token where that is asked for.
func TestAPIKeys(t *testing.T) {
	for _, tt := range []struct {
		engine, api string
		bearer      bool
		want        Class
	}{
		{"anthropic", "messages", false, ""}, {"anthropic", "messages", true, ClassHTTP4xx}, {"anthropic", "chat", false, ClassHTTP4xx},
		{"vllm", "messages", false, ClassHTTP4xx}, {"vllm", "messages", true, ""}, {"vllm", "responses", false, ""}, {"vllm", "chat", false, ""},
	} {
		url := simulated(t, simserver.Options{Engine: tt.engine, APIKey: "sk-1", FullLength: true})
		r := run24(t, Options{URL: url, API: tt.api, APIKey: "sk-1", Bearer: tt.bearer})
		if r.Class != tt.want {
			t.Errorf("%+v: %s %s", tt, r.Class, r.Message)
		}
	}
}

// Every fault has its class, on each API. Only a truncated stream of TensorRT-LLM on Triton cannot be recognised.
func TestEnginesFail(t *testing.T) {
	each(t, func(t *testing.T, engine, name string) {
		for fault, want := range map[simserver.Fault]string{
			simserver.Fault500:  "http_5xx 500 Internal Server Error: Internal server error",
			simserver.Fault429:  "rate_limited 429 Too Many Requests: Rate limit reached. Please try again in 1s. (retry after 1)",
			simserver.Fault529:  "http_5xx 529 Overloaded: Overloaded",
			simserver.FaultHTML: "malformed HTML instead of an event stream (Welcome)", simserver.FaultReset: "reset connection reset by the server",
			simserver.FaultTruncate: "truncated the stream ended without a finish reason or terminator",
			simserver.FaultError:    "stream_error EngineCore encountered an issue.",
			simserver.FaultGarbage:  `malformed a chunk is not JSON: {"id":"garbage","choices":[{"delta":{"content":`,
			simserver.FaultHang:     "timeout no answer within the request's limit of 100ms",
			simserver.FaultStall:    "timeout no end of the answer within the request's limit of 100ms",
		} {
			always := simserver.Faults{Rules: []simserver.FaultRule{{Kind: fault, Every: 1}}}
			options := simserver.Options{Engine: engine, FullLength: true, Faults: always}
			var r *Result
			if strings.HasPrefix(want, "timeout") {
				synctest.Test(t, func(t *testing.T) {
					network := make(pipes)
					s := &http.Server{Handler: simulatedHandler(t, options)}
					go s.Serve(network)
					defer time.Sleep(time.Minute) // until handlers and idle connections have ended
					defer s.Close()
					r = run24(t, Options{URL: "http://server", Dial: network.dial, API: name, Timeout: 100 * time.Millisecond})
				})
			} else {
				r = run24(t, Options{URL: simulated(t, options), API: name})
			}
			if name == "triton" && fault == simserver.FaultTruncate {
				want = " "
			}
			if got := fmt.Sprint(r.Class, " ", r.Message); got != want {
				t.Errorf("%s: %s, want %s", fault, got, want)
			}
			if after := fault == simserver.FaultTruncate || fault == simserver.FaultError || fault == simserver.FaultStall; after && r.Chunks() != 12 {
				t.Errorf("%s: %d chunks, want the 12 before it", fault, r.Chunks())
			}
		}
	})
}

// A stream that ends with a broken connection is never taken for a complete one.
func TestBrokenBareStream(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		fmt.Fprint(w, events(`{"text_output":" a"}`, `{"text_output":" b"}`))
		http.NewResponseController(w).Flush()
		conn, _, _ := http.NewResponseController(w).Hijack()
		conn.Close() // before the last chunk of the transfer coding
	}))
	defer s.Close()
	r := do(t, t.Context(), Options{URL: s.URL, API: "triton", Params: api.Params{Model: "m"}})
	if r.Status != StatusError || r.Class != ClassTruncated || r.OutputTokens != 2 {
		t.Errorf("%s %s %s, %d tokens", r.Status, r.Class, r.Message, r.OutputTokens)
	}
}

// SGLang's body sent to lmdeploy, and the reverse, gives 128 tokens whatever was asked.
func TestTrapOf128(t *testing.T) {
	for engine, name := range map[string]string{"sglang": "lmdeploy", "lmdeploy": "sglang"} {
		r := run24(t, Options{URL: simulated(t, simserver.Options{Engine: engine, FullLength: true}), API: name})
		if r.Status != StatusOK || r.OutputTokens != 128 {
			t.Errorf("%s's body on %s: %s %s, %d tokens", name, engine, r.Status, r.Message, r.OutputTokens)
		}
	}
	// A user's own sampling_params do not replace the length.
	o := Options{URL: simulated(t, simserver.Options{Engine: "sglang"}), API: "sglang",
		Params: api.Params{Extra: []byte(`{"sampling_params":{"top_p":0.9}}`), Fields: api.AllFields}}
	if r := run24(t, o); r.OutputTokens != 24 {
		t.Errorf("with top_p: %d tokens", r.OutputTokens)
	}
}

// Ollama cuts a prompt to its context, which only its token count shows.
func TestOllamaCutsPrompts(t *testing.T) {
	url := simulated(t, simserver.Options{Engine: "ollama"})
	long := &api.Request{Messages: []api.Message{{Role: "user", Content: strings.Repeat("word ", 6000)}}, OutputTokens: 4}
	for _, name := range []string{"ollama", "ollama-generate", "chat"} {
		for extra, want := range map[string]int{"": 4096, `{"options":{"num_ctx":5000}}`: 5000} {
			if name == "chat" {
				want = 4096 // has no such field
			}
			c, err := New(Options{URL: url, API: name, Params: api.Params{Model: "Qwen2-7B", Fields: api.AllFields, Extra: []byte(extra)}})
			if err != nil {
				t.Fatal(err)
			}
			call, _ := c.Prepare(long)
			var r Result
			r.Reset(time.Now())
			if c.Do(context.Background(), call, &r); r.PromptTokens != want || r.Status != StatusOK {
				t.Errorf("%s %s: %s, %d prompt tokens, want %d", name, extra, r.Message, r.PromptTokens, want)
			}
			c.CloseIdle()
		}
	}
}

// capturedText returns the text of a captured stream of the newer APIs, from the event that repeats it or from all of its parts.
func capturedText(t *testing.T, file string) (text string) {
	body, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		var e struct {
			Type, Text string
			Delta      struct{ Text string }
		}
		if data, ok := strings.CutPrefix(line, "data: "); !ok || json.Unmarshal([]byte(data), &e) != nil {
			continue
		}
		switch e.Type {
		case "response.output_text.done":
			return e.Text
		case "content_block_delta":
			text += e.Delta.Text
		}
	}
	return text
}

// Captured streams of real servers' own APIs.
func TestCapturedNativeStreams(t *testing.T) {
	ok := func(edit func(*outcome)) outcome {
		o := outcome{Status: StatusOK, HTTP: 200, Finish: "length", Source: SourceServer, Answer: true, Reasoning: api.Unknown, Cached: api.Unknown}
		edit(&o)
		return o
	}
	for file, tt := range map[string]struct {
		api  string
		want outcome
	}{
		"llama-native.sse": {"llamacpp", ok(func(o *outcome) {
			o.Chunks, o.Prompt, o.Output, o.Cached, o.Text = 3, 4, 3, 1, " hefupe mibagu vasege"
		})},
		"llama-native-16.sse": {"llamacpp", ok(func(o *outcome) {
			o.Chunks, o.Prompt, o.Output, o.Cached = 16, 13, 16, 0
			o.Text = " zeke zuga mupa rida dalila tocapa bise face reduko ruco sivu zomu kuki lomasi nona lugi"
		})},
		"ollama-gen.ndjson": {"ollama-generate", ok(func(o *outcome) { o.Chunks, o.Prompt, o.Output, o.Text = 4, 63, 4, " todulu lere bahufo tali" })},
		"ollama-raw.ndjson": {"ollama-generate", ok(func(o *outcome) { o.Chunks, o.Prompt, o.Output, o.Text = 4, 13, 4, " zeke zuga!w" })},
		"ollama-chat.ndjson": {"ollama", ok(func(o *outcome) {
			o.Chunks, o.Prompt, o.Output = 16, 63, 16
			o.Text = " nidu fedure hotiho luvo benida bire poda hibifu makega fupo mesiru vici nomesi lado refa cala"
		})},
		"llama-b11434-messages.sse": {"messages", ok(func(o *outcome) {
			o.Chunks, o.Prompt, o.Output, o.Cached = 24, 25, 24, 24
			o.Text = capturedText(t, "llama-b11434-messages.sse")
		})},
		"llama-b11434-responses.sse": {"responses", ok(func(o *outcome) {
			o.Chunks, o.Prompt, o.Output, o.Cached, o.Finish = 24, 25, 24, 24, "stop"
			o.Text = capturedText(t, "llama-b11434-responses.sse")
		})},
		"vllm-0.32.0-messages.sse": {"messages", ok(func(o *outcome) {
			o.Chunks, o.Prompt, o.Output = 24, 11, 24
			o.Text = capturedText(t, "vllm-0.32.0-messages.sse")
		})},
		"vllm-0.32.0-responses.sse": {"responses", ok(func(o *outcome) {
			o.Chunks, o.Prompt, o.Output, o.Cached, o.Reasoning = 24, 11, 24, 0, 0
			o.Text = capturedText(t, "vllm-0.32.0-responses.sse")
		})},
		"vllm-0.32.0-chat-tools.sse":      {"chat", ok(func(o *outcome) { o.Chunks, o.Prompt, o.Output = 35, 11, 60 })},
		"vllm-0.32.0-responses-tools.sse": {"responses", ok(func(o *outcome) { o.Chunks, o.Prompt, o.Output, o.Cached, o.Reasoning = 33, 11, 60, 0, 0 })},
		"vllm-0.32.0-messages-tools.sse":  {"messages", ok(func(o *outcome) { o.Chunks, o.Prompt, o.Output, o.Finish = 2, 11, 43, "tool_calls" })},
		"sglang-0.5.23-generate.sse": {"sglang", ok(func(o *outcome) {
			o.Chunks, o.Prompt, o.Output, o.Cached, o.Reasoning, o.Text = 24, 2, 24, 0, 0, "ERebhookxxxffffffff 11elementgetsockoptgetcwdcolther� registerdelTYcaper14�NB Or SOFTWAREwpid matches existvallen"
		})},
		"triton-2.51.0-generate.sse": {"triton", ok(func(o *outcome) {
			o.Chunks, o.Prompt, o.Output, o.Finish, o.Source = 24, api.Unknown, 24, "", SourceChunks
			for n := range 24 {
				o.Text += fmt.Sprintf(" word%d", n)
			}
		})},
		"transformers-5.19.0-chat.sse": {"chat", ok(func(o *outcome) {
			o.Chunks, o.Prompt, o.Output, o.Text = 24, 11, 24, strings.Repeat("shal", 24)
		})},
		"transformers-5.19.0-responses.sse": {"responses", ok(func(o *outcome) {
			o.Chunks, o.Prompt, o.Output, o.Cached, o.Reasoning, o.Finish, o.Text = 24, 11, 24, 0, 0, "stop", strings.Repeat("shal", 24)
		})},
		"ollama-v1chat.sse": {"chat", ok(func(o *outcome) {
			o.Chunks, o.Prompt, o.Output = 16, 63, 16
			o.Text = " nidu fedure hotiho luvo benida bire poda hibifu makega fupo mesiru vici nomesi lado refa cala"
		})},
	} {
		body, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(file, func(t *testing.T) {
			url := answering(t, 200, nil, string(body))
			checkOutcome(t, do(t, t.Context(), Options{URL: url, API: tt.api, Params: api.Params{Model: "tiny"}}), tt.want)
		})
	}
}

// Captured streams of vLLM 0.32, whose counts are known.
func TestCapturedVLLM(t *testing.T) {
	streams := captured(t)
	for name, want := range map[string][4]int{ // chunks, prompt, output, counts known
		"vllm-chat": {16, 14, 16}, "vllm-comp": {16, 4, 16}, "vllm-continuous": {4, 14, 4}, "llama-comp-16": {16, 13, 16},
	} {
		r := do(t, t.Context(), Options{URL: answering(t, 200, nil, string(streams[name]))})
		if got := [4]int{r.Chunks(), r.PromptTokens, r.OutputTokens}; got != want || r.Status != StatusOK || r.Finish != "length" {
			t.Errorf("%s: %s %s %v, finish %q", name, r.Status, r.Message, got, r.Finish)
		}
	}
}
