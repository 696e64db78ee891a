package client

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/api"
	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/client/testkit"
)

// spokenBy returns the APIs of each engine.
func spokenBy() map[string][]string {
	return map[string][]string{
		"vllm":      {"chat", "completions", "responses", "messages"},
		"sglang":    {"chat", "completions", "sglang"},
		"anthropic": {"messages"},
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
	c := testkit.Must(sim.Preset("Qwen2-7B/H200x4/int8"))
	c.StepOverhead = 100 * time.Microsecond
	c.PrefixCache = true
	live := testkit.Must(sim.Start(c))
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
		d := testkit.Must(api.DialectByName(o.API))
		o.Params.Fields = d.Traits().Fields
	}
	r := send(t, newClient(t, o), t.Context(), request24)
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
	return r
}

// Each API of each engine gives as many tokens as asked, with counts, and the same text whatever the size of chunks.
func TestEngines(t *testing.T) {
	each(t, func(t *testing.T, engine, name string) {
		text := ""
		for _, o := range []simserver.Options{
			{}, {ChunkTokens: 3}, {Texts: "pieces"}, {Texts: "cumulative"}, {Texts: "cumulative", ChunkTokens: 5},
		} {
			o.Engine, o.FullLength = engine, true
			r := run24(t, Options{URL: simulated(t, o), API: name})
			if text == "" {
				text = string(r.Text)
			}
			if string(r.Text) != text || text == "" {
				t.Errorf("not one text: %q, %q", text, r.Text)
			}
			chunks, reasoning := 24, ""
			if o.ChunkTokens > 1 {
				chunks = 1 + (23+o.ChunkTokens-1)/o.ChunkTokens
			}
			if name == "responses" {
				reasoning = ", reasoning 0"
			}
			if (len(r.Counts) > 0) != (name == "sglang" && chunks < 24) {
				t.Errorf("counts %v", r.Counts)
			}
			prompt := r.PromptTokens
			r.CachedTokens, r.Counts, r.Text = api.Unknown, nil, nil
			checkSummary(t, r, fmt.Sprintf("ok, length, %d chunks, server 24, prompt %d%s", chunks, prompt, reasoning))
			if prompt < 50 || prompt > 200 {
				t.Errorf("a prompt of %d tokens", prompt)
			}
		}
	})
}

// Reasoning is recognised and counted, and can be turned off where an API allows it.
func TestEnginesThink(t *testing.T) {
	no := false
	each(t, func(t *testing.T, engine, name string) {
		o := simserver.Options{Engine: engine, FullLength: true, Think: 5}
		url := simulated(t, o)
		r := run24(t, Options{URL: url, API: name})
		d, _ := api.DialectByName(name)
		thinks := d.Traits().Thinks
		later := r.FirstAnswer > r.FirstToken || thinks && r.Shared.Has(0) // received with the next token
		if thinks != (r.ReasoningTokens == 5) || thinks != later || r.Status != StatusOK {
			t.Errorf("%s: %d reasoning tokens of %d, answer after %v", r.Status, r.ReasoningTokens, r.OutputTokens,
				r.FirstAnswer-r.FirstToken)
		}
		p := api.Params{Think: &no, Fields: d.Traits().Fields}
		r = run24(t, Options{URL: url, API: name, Params: p})
		if r.ReasoningTokens > 0 || r.FirstAnswer != r.FirstToken || r.Status != StatusOK {
			t.Errorf("told not to think: %s, %d reasoning tokens", r.Status, r.ReasoningTokens)
		}
	})
}

// Every fault has its class, on each API.
func TestEnginesFail(t *testing.T) {
	each(t, func(t *testing.T, engine, name string) {
		for fault, want := range map[simserver.Fault]string{
			simserver.Fault500: "http_5xx 500 Internal Server Error: Internal server error",
			simserver.Fault429: "rate_limited 429 Too Many Requests: Rate limit reached. " +
				"Please try again in 1s. (retry after 1)",
			simserver.Fault529:      "http_5xx 529 Overloaded: Overloaded",
			simserver.FaultHTML:     "malformed HTML instead of an event stream (Welcome)",
			simserver.FaultReset:    "reset connection reset by the server",
			simserver.FaultTruncate: "truncated the stream ended without a finish reason or terminator",
			simserver.FaultError:    "stream_error EngineCore encountered an issue.",
			simserver.FaultGarbage:  `malformed a chunk is not JSON: {"id":"garbage","choices":[{"delta":{"content":`,
			simserver.FaultHang:     "timeout no answer within the request's limit of 100ms",
			simserver.FaultStall:    "timeout no end of the answer within the request's limit of 100ms",
		} {
			always := simserver.Faults{Rules: []simserver.FaultRule{{Kind: fault, Every: 1}}}
			options := simserver.Options{Engine: engine, FullLength: true, Faults: always}
			var r *Result
			run := func(t *testing.T) {
				dial := testkit.ServePipes(t, simulatedHandler(t, options))
				r = run24(t, Options{URL: "http://server", Dial: dial, API: name, Timeout: 100 * time.Millisecond})
			}
			if fault == simserver.FaultReset { // pipes have none
				r = run24(t, Options{URL: simulated(t, options), API: name})
			} else {
				synctest.Test(t, run)
			}
			if got := fmt.Sprint(r.Class, " ", r.Message); got != want {
				t.Errorf("%s: %s, want %s", fault, got, want)
			}
			if after := fault == simserver.FaultTruncate || fault == simserver.FaultError ||
				fault == simserver.FaultStall; after && r.Chunks() != 12 {
				t.Errorf("%s: %d chunks, want the 12 before it", fault, r.Chunks())
			}
		}
	})
}

// What the client makes of the streams of real servers, in every dialect.
func TestCaptures(t *testing.T) {
	for _, c := range testkit.Captures(t) {
		t.Run(c.Name, func(t *testing.T) {
			url := serveAnswer(t, 200, "Content-Type: text/event-stream", string(c.Stream))
			r := do(t, Options{URL: url, API: c.API, Params: api.Params{Model: "tiny"}})
			checkSummary(t, r, c.Want)
			if !slices.IsSorted([]int64{0, int64(r.Sent), int64(r.Headers), int64(r.FirstToken), int64(r.LastToken),
				int64(r.End)}) {
				t.Errorf("instants out of order: %+v", r)
			}
		})
	}
}
