package server

import (
	"encoding/json"
	"net/http"
	"slices"

	"llmsweep/client/sim"
	"llmsweep/client/sim/tokenizer"
)

// tritonEndpoint is the generate extension of NVIDIA's Triton, after triton-inference-server/server,
// docs/protocol/extension_generate.md: TensorRT-LLM's ensemble, which has no counts and takes parameters at the top level
// or nested, or vLLM's backend (triton-inference-server/vllm_backend, src/utils/request.py, 2026), which takes them
// nested. Neither was checked against a running engine.
func tritonEndpoint(model string, vllm bool) *endpoint {
	return &endpoint{
		path: "/v2/models/" + model + "/generate_stream", framing: events(), refusal: plainRefusal,
		known:   []string{"text_input", "max_tokens", "stream", "temperature", "parameters", "bad_words", "stop_words"},
		parse:   func(s *host, raw []byte) (request, error) { return parseTriton(s, raw, vllm) },
		encoder: func(a *answer) encoder { return &tritonEncoder{a} },
	}
}

// tritonParameters are nested or, for TensorRT-LLM, at the top level.
type tritonParameters struct {
	MaxTokens *int `json:"max_tokens"`
	MinTokens int  `json:"min_tokens"`
	IgnoreEOS bool `json:"ignore_eos"`
	Stream    bool `json:"stream"`
}

func parseTriton(s *host, raw []byte, vllm bool) (request, error) {
	var b struct {
		TextInput  string           `json:"text_input"`
		Parameters tritonParameters `json:"parameters"`
		Counts     bool             `json:"return_num_output_tokens"`
		tritonParameters
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return request{}, badRequest("failed to parse the request JSON buffer: %v", err)
	}
	j := request{stream: b.Stream || b.Parameters.Stream, told: b.Counts && vllm && !s.options.NoUsage}
	w := wish{most: b.Parameters.MaxTokens, otherwise: sim.DefaultOutputTokens}
	if vllm {
		w.forced, w.least = b.Parameters.IgnoreEOS, b.Parameters.MinTokens
	} else {
		if w.most == nil {
			w.most = b.MaxTokens
		}
		if w.most == nil {
			return request{}, badRequest("[request id: <id_unknown>] expected 3 inputs but got 2 inputs for model 'ensemble'. Missing 'max_tokens'.")
		}
	}
	return j, s.settle(&j, tokenizer.Append(nil, b.TextInput, s.config.Model.Vocab), w)
}

// tritonObject is a chunk, or an answer in one piece.
type tritonObject struct {
	FinishReason    string    `json:"finish_reason,omitempty"`
	NumInputTokens  *int      `json:"num_input_tokens,omitempty"`
	NumOutputTokens *int      `json:"num_output_tokens,omitempty"`
	ModelName       string    `json:"model_name"`
	ModelVersion    string    `json:"model_version"`
	LogProbs        []float64 `json:"output_log_probs,omitempty"`
	TextOutput      string    `json:"text_output"`
	stamp
}

// anyLogProb is the log-prob of all tokens.
const anyLogProb = -0.5

// tritonEncoder's streams end without a terminator.
type tritonEncoder struct{ *answer }

func (e *tritonEncoder) opening() any { return nil }

func (e *tritonEncoder) tokens(from, to int) []any { return []any{e.object(from, to)} }

func (e *tritonEncoder) object(from, to int) tritonObject {
	o := tritonObject{ModelName: e.host.options.ModelID, ModelVersion: "1", stamp: e.stamp()}
	if e.request.told {
		o.FinishReason = "None"
		if e.last(to) {
			o.FinishReason = e.request.finish
		}
		o.NumInputTokens, o.NumOutputTokens = e.reported(e.request.seq.PromptTokens), e.reported(to-from)
	}
	if e.host.options.LogProbs { // of all tokens so far
		o.LogProbs = slices.Repeat([]float64{anyLogProb}, to)
	}
	if e.host.options.Texts == "cumulative" {
		from = 0
	}
	o.TextOutput = e.text(from, to)
	return o
}

func (e *tritonEncoder) closing(sim.Usage) []any { return nil }

func (e *tritonEncoder) whole(u sim.Usage) any { return e.object(0, u.OutputTokens) }

// aboutTriton returns the pages about server and model.
func aboutTriton(s *host) map[string]route {
	vllm := s.name == "triton-vllm"
	inputs := []string{"text_input", "max_tokens", "stream", "temperature"}
	if vllm {
		inputs = []string{"text_input", "stream", "sampling_parameters", "return_finish_reason", "return_num_output_tokens"}
	}
	var tensors []map[string]any
	for _, name := range inputs {
		tensors = append(tensors, map[string]any{"name": name, "datatype": "BYTES", "shape": []int{1}})
	}
	id := s.options.ModelID
	return map[string]route{
		"/v2": {http.MethodGet, page(map[string]any{"name": "triton", "version": "2.60.0-sim", "extensions": []string{"generate"}})},
		"/v2/models/" + id: {http.MethodGet, page(map[string]any{
			"name": id, "versions": []string{"1"}, "platform": "ensemble", "inputs": tensors,
			"outputs": []map[string]any{{"name": "text_output", "datatype": "BYTES", "shape": []int{1}}}})},
		"/v2/repository/index": {http.MethodPost, page([]map[string]string{{"name": id, "version": "1", "state": "READY"}})},
	}
}

// tritonNative returns Triton's own endpoint, in one of its two kinds.
func tritonNative(s *host) *endpoint {
	return tritonEndpoint(s.options.ModelID, s.name == "triton-vllm")
}
