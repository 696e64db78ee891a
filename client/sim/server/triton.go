package server

import (
	"encoding/json"
	"llmsweep/client/sim"
	"net/http"
)

// tritonAPI is the generate extension of NVIDIA's Triton, after triton-inference-server/server,
// docs/protocol/extension_generate.md: TensorRT-LLM's ensemble, which has no counts and takes parameters at the top level
// or nested, or vLLM's backend (triton-inference-server/vllm_backend, src/utils/request.py, 2026), which takes them
// nested. Neither was seen on a running engine.
func tritonAPI(model string, vllm bool) *api {
	return &api{
		path: "/v2/models/" + model + "/generate_stream", framing: events(), refusal: plainRefusal,
		known: []string{"text_input", "max_tokens", "stream", "temperature", "parameters", "bad_words", "stop_words"},
		parse: func(s *server, raw []byte) (job, error) { return parseTriton(s, raw, vllm) },
		voice: func(a *answer) voice { return &tritonVoice{chunkWriter: chunkWriter{answer: a}} },
	}
}

// tritonParameters may stand nested or, for TensorRT-LLM, at the top level.
type tritonParameters struct {
	MaxTokens *int `json:"max_tokens"`
	MinTokens int  `json:"min_tokens"`
	IgnoreEOS bool `json:"ignore_eos"`
	Stream    bool `json:"stream"`
}

func parseTriton(s *server, raw []byte, vllm bool) (job, error) {
	var b struct {
		TextInput  string           `json:"text_input"`
		Parameters tritonParameters `json:"parameters"`
		Counts     bool             `json:"return_num_output_tokens"`
		tritonParameters
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return job{}, badRequest("failed to parse the request JSON buffer: %v", err)
	}
	j := job{stream: b.Stream || b.Parameters.Stream, told: b.Counts && vllm && !s.options.NoUsage}
	w := wish{most: b.Parameters.MaxTokens, otherwise: sim.DefaultOutputTokens}
	if vllm {
		w.forced, w.least = b.Parameters.IgnoreEOS, b.Parameters.MinTokens
	} else {
		if w.most == nil {
			w.most = b.MaxTokens
		}
		if w.most == nil {
			return job{}, badRequest("[request id: <id_unknown>] expected 3 inputs but got 2 inputs for model 'ensemble'. Missing 'max_tokens'.")
		}
	}
	return j, s.settle(&j, appendTokens(nil, b.TextInput, s.config.Model.Vocab), w)
}

// tritonVoice ends without a word.
type tritonVoice struct{ chunkWriter }

func (v *tritonVoice) opening() []byte { return nil }

func (v *tritonVoice) tokens(from, to int) []byte {
	v.begin()
	v.object(from, to)
	return v.end()
}

func (v *tritonVoice) object(from, to int) {
	v.say(`{`)
	if v.job.told {
		finish := "None"
		if v.last(to) {
			finish = v.job.finish
		}
		v.say(`"finish_reason":"`)
		v.say(finish)
		v.say(`","num_input_tokens":`)
		v.number(v.job.seq.PromptTokens)
		v.say(`,"num_output_tokens":`)
		v.number(to - from)
		v.say(",")
	}
	v.say(`"model_name":"`)
	v.say(v.server.options.ModelID)
	v.say(`","model_version":"1",`)
	if v.server.options.LogProbs {
		v.probabilities(to)
	}
	if v.server.options.Texts == "cumulative" {
		from = 0
	}
	v.say(`"text_output":"`)
	v.words(from, to)
	v.say(`"`)
}

// probabilities writes a list of so many log-probs.
func (v *tritonVoice) probabilities(n int) {
	v.say(`"output_log_probs":[`)
	for i := range n {
		if i > 0 {
			v.say(",")
		}
		v.say("-0.5")
	}
	v.say("],")
}

func (v *tritonVoice) closing(sim.Usage, func([]byte) bool) {}

func (v *tritonVoice) whole(u sim.Usage) []byte {
	v.buf = v.buf[:0]
	v.object(0, u.OutputTokens)
	v.say("}")
	return v.buf
}

// aboutTriton tells of server and model; the paths hold the model's name, so the endpoint is here too.
func aboutTriton(s *server) map[string]route {
	vllm := s.flavor.name == "triton-vllm"
	inputs := []string{"text_input", "max_tokens", "stream", "temperature"}
	if vllm {
		inputs = []string{"text_input", "stream", "sampling_parameters", "return_finish_reason", "return_num_output_tokens"}
	}
	var tensors []map[string]any
	for _, name := range inputs {
		tensors = append(tensors, map[string]any{"name": name, "datatype": "BYTES", "shape": []int{1}})
	}
	id := s.options.ModelID
	all := map[string]route{
		"/v2": {http.MethodGet, page(map[string]any{"name": "triton", "version": "2.60.0-sim", "extensions": []string{"generate"}})},
		"/v2/models/" + id: {http.MethodGet, page(map[string]any{
			"name": id, "versions": []string{"1"}, "platform": "ensemble", "inputs": tensors,
			"outputs": []map[string]any{{"name": "text_output", "datatype": "BYTES", "shape": []int{1}}}})},
		"/v2/repository/index": {http.MethodPost, page([]map[string]string{{"name": id, "version": "1", "state": "READY"}})},
	}
	s.serve(all, tritonAPI(id, vllm))
	return all
}
