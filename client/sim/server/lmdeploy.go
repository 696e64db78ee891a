package server

import (
	"encoding/json"
	"net/http"
	"strings"

	"llmsweep/client/sim"
	"llmsweep/client/sim/tokenizer"
)

// lmdeployEndpoint is lmdeploy's own /generate, after InternLM/lmdeploy, lmdeploy/serve/openai/endpoints/generate.py and
// protocol.py, as of 0.10; not checked against a running engine. It also accepts SGLang's body, which a real server
// would reject because its text is not in "prompt".
func lmdeployEndpoint() *endpoint {
	return &endpoint{
		path: "/generate", known: strings.Fields("prompt input_ids max_tokens stream temperature top_p top_k stop"), framing: events(),
		parse: parseLMDeploy, done: true, doneAfterError: true, refusal: (*apiError).object,
		encoder: func(a *answer) encoder { return &lmdeployEncoder{a} },
	}
}

func parseLMDeploy(s *host, raw []byte) (request, error) {
	var b generateBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return request{}, badRequest("the body is not a valid request: %v", err)
	}
	ids, err := b.prompt(s.config.Model.Vocab)
	if err != nil {
		return request{}, err
	}
	j := request{stream: b.Stream}
	return j, s.settle(&j, ids, wish{most: b.MaxTokens, otherwise: generateDefault, forced: b.IgnoreEOS})
}

// lmdeployObject is a chunk, or an answer in one piece.
type lmdeployObject struct {
	Text      string       `json:"text"`
	OutputIDs []uint32     `json:"output_ids"`
	MetaInfo  lmdeployMeta `json:"meta_info"`
	stamp
}

type lmdeployMeta struct {
	PromptTokens     *int `json:"prompt_tokens,omitempty"`
	CompletionTokens *int `json:"completion_tokens,omitempty"`
	FinishReason     any  `json:"finish_reason"`
	LogProbs         any  `json:"output_token_logprobs"`
}

// lmdeployEncoder sends pieces. The finish reason has a chunk of its own.
type lmdeployEncoder struct{ *answer }

func (e *lmdeployEncoder) opening() any { return nil }

func (e *lmdeployEncoder) tokens(from, to int) []any { return []any{e.object(from, to, null())} }

func (e *lmdeployEncoder) object(from, to int, finish any) lmdeployObject {
	return lmdeployObject{Text: e.text(from, to), OutputIDs: e.ids(from, to), stamp: e.stamp(), MetaInfo: lmdeployMeta{
		PromptTokens: e.reported(e.request.seq.PromptTokens), CompletionTokens: e.reported(to), FinishReason: finish,
	}}
}

// finish returns the finish reason.
func (e *lmdeployEncoder) finish() any {
	return map[string]string{"type": e.request.finish}
}

func (e *lmdeployEncoder) closing(u sim.Usage) []any {
	return []any{e.object(u.OutputTokens, u.OutputTokens, e.finish())}
}

func (e *lmdeployEncoder) whole(u sim.Usage) any { return e.object(0, u.OutputTokens, e.finish()) }

func aboutLMDeploy(s *host) map[string]route {
	return map[string]route{"/v1/encode": {http.MethodPost, func(w http.ResponseWriter, r *http.Request) {
		var b struct{ Input string }
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
			writeError(w, badRequest("the body is not a valid request: %v", err))
			return
		}
		ids := tokenizer.Append(nil, b.Input, s.config.Model.Vocab)
		writeJSON(w, http.StatusOK, map[string]any{"input_ids": ids, "length": len(ids)})
	}}}
}
