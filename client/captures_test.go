package client

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/api"
)

// TestCaptures reads what real servers sent: the name of the file tells which, in what version, and by which API. Each
// file of testdata is here.
func TestCaptures(t *testing.T) {
	const unknown = api.Unknown
	ok := outcome{
		Status: StatusOK, HTTP: 200, Finish: "length", Source: SourceServer, Answer: true,
		Prompt: unknown, Output: unknown, Reasoning: unknown, Cached: unknown,
	}
	counts := func(chunks, prompt, output, cached, reasoning int) outcome {
		o := ok
		o.Chunks, o.Prompt, o.Output, o.Cached, o.Reasoning = chunks, prompt, output, cached, reasoning
		return o
	}
	onlyReasoning := counts(3, 62, 3, 0, 3)
	onlyReasoning.Answer = false
	ended := func(o outcome, finish string) outcome { o.Finish = finish; return o }
	for _, tt := range []struct {
		file, api string
		want      outcome
		text      string // "*" for what the capture itself says
	}{
		{"llama-chat", "chat", counts(4, 33, 4, 0, unknown), " fisege movugo gole dosu"},
		{"llama-comp", "completions", counts(4, 13, 4, 2, unknown), " todulu rekume rusa karu"},
		{"llama-comp-16", "completions", counts(16, 13, 16, 2, unknown), "*"},
		{"llama-reasoning", "chat", onlyReasoning, ""},
		{"llama-b11434-messages", "messages", counts(24, 25, 24, 24, unknown), "*"},
		// llama-server calls a cut answer "completed"
		{"llama-b11434-responses", "responses", ended(counts(24, 25, 24, 24, unknown), "stop"), "*"},
		{"ollama-v1chat", "chat", counts(16, 63, 16, unknown, unknown),
			" nidu fedure hotiho luvo benida bire poda hibifu makega fupo mesiru vici nomesi lado refa cala"},
		{"ollama-v1comp", "completions", counts(3, 63, 3, unknown, unknown), " nidu fedure zigota"},
		{"sglang-0.5.23-generate", "sglang", counts(24, 2, 24, 0, 0),
			"ERebhookxxxffffffff 11elementgetsockoptgetcwdcolther� registerdelTYcaper14�NB Or SOFTWAREwpid matches existvallen"},
		{"transformers-5.19.0-chat", "chat", counts(24, 11, 24, unknown, unknown), strings.Repeat("shal", 24)},
		{"transformers-5.19.0-responses", "responses", ended(counts(24, 11, 24, 0, 0), "stop"), strings.Repeat("shal", 24)},
		{"vllm-0.32.0-chat-tools", "chat", counts(35, 11, 60, unknown, unknown), ""},
		{"vllm-0.32.0-messages", "messages", counts(24, 11, 24, unknown, unknown), "*"},
		{"vllm-0.32.0-messages-tools", "messages", ended(counts(2, 11, 43, unknown, unknown), "tool_calls"), ""},
		{"vllm-0.32.0-responses", "responses", counts(24, 11, 24, 0, 0), "*"},
		{"vllm-0.32.0-responses-tools", "responses", counts(33, 11, 60, 0, 0), ""},
		{"vllm-chat", "chat", counts(16, 14, 16, unknown, unknown), "*"},
		{"vllm-comp", "completions", counts(16, 4, 16, unknown, unknown), "*"},
		{"vllm-continuous", "chat", counts(4, 14, 4, unknown, unknown), "*"},
		{"vllmsim-chat", "chat", counts(4, 7, 4, 0, unknown), "I am fine, "},
	} {
		t.Run(tt.file, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join("testdata", tt.file+".sse"))
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Text = tt.text
			if tt.text == "*" {
				tt.want.Text = saidIn(body)
			}
			url := serveAnswer(t, 200, map[string]string{"Content-Type": "text/event-stream"}, string(body))
			r := do(t, t.Context(), Options{URL: url, API: tt.api, Params: api.Params{Model: "tiny"}})
			checkOutcome(t, r, tt.want)
			if !slices.IsSorted([]int64{0, int64(r.Sent), int64(r.Headers), int64(r.FirstToken), int64(r.LastToken),
				int64(r.End)}) {
				t.Errorf("instants out of order: %+v", r)
			}
		})
	}
}

// saidIn returns the text of a captured stream as encoding/json reads it: from the event that repeats it, or else from
// all of its parts.
func saidIn(stream []byte) (text string) {
	for line := range strings.Lines(string(stream)) {
		var e struct {
			Type, Text string
			Delta      json.RawMessage
			Choices    []struct {
				Text  string
				Delta struct{ Content string }
			}
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || json.Unmarshal([]byte(data), &e) != nil {
			continue
		}
		if e.Type == "response.output_text.done" {
			return e.Text
		}
		var delta struct{ Text string }
		if json.Unmarshal(e.Delta, &delta) == nil {
			text += delta.Text
		}
		for _, c := range e.Choices {
			text += c.Text + c.Delta.Content
		}
	}
	return text
}
