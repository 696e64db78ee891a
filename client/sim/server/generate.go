package server

import (
	"encoding/json"
	"fmt"
	"llmsweep/client/sim"
	"net/http"
	"strings"
)

// generateDefault is how many tokens SGLang's and lmdeploy's own /generate give where none were asked for, or where the
// length stands in the other's place, of which neither says a word.
const generateDefault = 128

// sglangAPI is SGLang's own /generate, after sgl-project/sglang, python/sglang/srt/entrypoints/http_server.py,
// managers/tokenizer_manager.py and io_struct.py, as of 0.5; not seen on a running engine. It also takes lmdeploy's
// body, in whose "prompt" a real one would miss its "text".
func sglangAPI() *api {
	return &api{
		path: "/generate", known: strings.Fields("text input_ids sampling_params stream return_logprob rid"), framing: events(),
		parse: parseSGLang, doneAfterError: true,
		voice: func(a *answer) voice { return &sglangVoice{chunkWriter: chunkWriter{answer: a}} },
		refusal: func(e *apiError) []byte {
			return asJSON(map[string]any{"error": map[string]string{"message": e.Message}})
		},
	}
}

// generateBody is both engines' request; each looks only at what is its own.
type generateBody struct {
	Text           json.RawMessage `json:"text"`
	Prompt         json.RawMessage `json:"prompt"`
	InputIDs       json.RawMessage `json:"input_ids"`
	Stream         bool            `json:"stream"`
	SamplingParams struct {
		MaxNewTokens *int `json:"max_new_tokens"`
		MinNewTokens int  `json:"min_new_tokens"`
		IgnoreEOS    bool `json:"ignore_eos"`
	} `json:"sampling_params"`
	MaxTokens *int `json:"max_tokens"`
	IgnoreEOS bool `json:"ignore_eos"`
}

// prompt is the request's prompt under whichever name.
func (b *generateBody) prompt(vocab int) ([]uint32, error) {
	for _, raw := range []json.RawMessage{b.Text, b.Prompt, b.InputIDs} {
		if len(raw) > 0 && string(raw) != "null" {
			return completionPrompt(raw, vocab)
		}
	}
	return nil, badRequest("Either text, input_ids or input_embeds should be provided.")
}

func parseSGLang(s *server, raw []byte) (job, error) {
	var b generateBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return job{}, badRequest("the body is not a valid request: %v", err)
	}
	ids, err := b.prompt(s.config.Model.Vocab)
	if err != nil {
		return job{}, err
	}
	j := job{stream: b.Stream}
	p := b.SamplingParams
	return j, s.settle(&j, ids, wish{most: p.MaxNewTokens, otherwise: generateDefault, least: p.MinNewTokens, forced: p.IgnoreEOS})
}

// sglangVoice sends texts and ids that are cumulative, unless the server was started otherwise.
type sglangVoice struct{ chunkWriter }

func (v *sglangVoice) opening() []byte { return nil }

func (v *sglangVoice) tokens(from, to int) []byte {
	v.begin()
	v.object(from, to)
	return v.end()
}

// object is everything but the closing brace.
func (v *sglangVoice) object(from, to int) {
	if v.server.options.Texts != "pieces" {
		from = 0
	}
	v.say(`{"text":"`)
	v.words(from, to)
	v.say(`","output_ids":[`)
	v.ids(from, to)
	v.say(`],"meta_info":{"id":"`)
	v.say(v.id)
	v.say(`","finish_reason":`)
	switch {
	case !v.last(to):
		v.say("null")
	case v.job.finish == "length":
		v.buf = fmt.Appendf(v.buf, `{"type":"length","length":%d}`, to)
	default:
		v.say(`{"type":"stop","matched":151645}`)
	}
	if !v.server.options.NoUsage {
		v.say(`,"prompt_tokens":`)
		v.number(v.job.seq.PromptTokens)
		v.say(`,"completion_tokens":`)
		v.number(to)
		v.say(`,"cached_tokens":`)
		v.number(v.cached())
	}
	v.say("}")
}

func (v *sglangVoice) closing(_ sim.Usage, send func([]byte) bool) { send([]byte(done)) }

func (v *sglangVoice) whole(u sim.Usage) []byte {
	v.buf = v.buf[:0]
	v.object(0, u.OutputTokens)
	v.say("}")
	return v.buf
}

func aboutSGLang(s *server) map[string]route {
	info := page(map[string]any{"model_path": s.options.ModelID, "tokenizer_path": s.options.ModelID, "is_generation": true})
	state := page(map[string]any{
		"version": "0.5.2+sim", "served_model_name": s.options.ModelID, "model_path": s.options.ModelID,
		"max_total_num_tokens": s.config.KVTokens, "incremental_streaming_output": s.options.Texts == "pieces"})
	return map[string]route{
		"/get_model_info":  {http.MethodGet, info},
		"/get_server_info": {http.MethodGet, state},
		"/tokenize":        {http.MethodPost, s.tokenize},
	}
}

// lmdeployAPI is lmdeploy's own /generate, after InternLM/lmdeploy, lmdeploy/serve/openai/endpoints/generate.py and
// protocol.py, as of 0.10; not seen on a running engine. It also takes SGLang's body, in whose "text" a real one would
// miss its "prompt".
func lmdeployAPI() *api {
	return &api{
		path: "/generate", known: strings.Fields("prompt input_ids max_tokens stream temperature top_p top_k stop"), framing: events(),
		parse: parseLMDeploy, doneAfterError: true, refusal: (*apiError).json,
		voice: func(a *answer) voice { return &lmdeployVoice{chunkWriter{answer: a}} },
	}
}

func parseLMDeploy(s *server, raw []byte) (job, error) {
	var b generateBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return job{}, badRequest("the body is not a valid request: %v", err)
	}
	ids, err := b.prompt(s.config.Model.Vocab)
	if err != nil {
		return job{}, err
	}
	j := job{stream: b.Stream}
	return j, s.settle(&j, ids, wish{most: b.MaxTokens, otherwise: generateDefault, forced: b.IgnoreEOS})
}

// lmdeployVoice sends pieces; the finish reason has a chunk of its own.
type lmdeployVoice struct{ chunkWriter }

func (v *lmdeployVoice) opening() []byte { return nil }

func (v *lmdeployVoice) tokens(from, to int) []byte {
	v.begin()
	v.object(from, to, "")
	return v.end()
}

func (v *lmdeployVoice) object(from, to int, finish string) {
	v.say(`{"text":"`)
	v.words(from, to)
	v.say(`","output_ids":[`)
	v.ids(from, to)
	v.say(`],"meta_info":{`)
	if !v.server.options.NoUsage {
		v.say(`"prompt_tokens":`)
		v.number(v.job.seq.PromptTokens)
		v.say(`,"completion_tokens":`)
		v.number(to)
		v.say(",")
	}
	if finish == "" {
		v.say(`"finish_reason":null`)
	} else {
		v.buf = fmt.Appendf(v.buf, `"finish_reason":{"type":"%s"}`, finish)
	}
	v.say(`,"output_token_logprobs":null}`)
}

func (v *lmdeployVoice) closing(u sim.Usage, send func([]byte) bool) {
	v.begin()
	v.object(u.OutputTokens, u.OutputTokens, v.job.finish)
	send(v.end())
	send([]byte(done))
}

func (v *lmdeployVoice) whole(u sim.Usage) []byte {
	v.buf = v.buf[:0]
	v.object(0, u.OutputTokens, v.job.finish)
	v.say("}")
	return v.buf
}

func aboutLMDeploy(s *server) map[string]route {
	return map[string]route{"/v1/encode": {http.MethodPost, func(w http.ResponseWriter, r *http.Request) {
		var b struct{ Input string }
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
			writeError(w, badRequest("the body is not a valid request: %v", err))
			return
		}
		ids := appendTokens(nil, b.Input, s.config.Model.Vocab)
		writeJSON(w, http.StatusOK, map[string]any{"input_ids": ids, "length": len(ids)})
	}}}
}
