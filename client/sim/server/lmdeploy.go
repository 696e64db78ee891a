package server

import (
	"encoding/json"
	"net/http"
	"strings"

	"llmsweep/client/sim"
)

// lmdeployEndpoint is lmdeploy's own /generate, after InternLM/lmdeploy, lmdeploy/serve/openai/endpoints/generate.py and
// protocol.py, as of 0.10; not checked against a running engine. It also accepts SGLang's body, which a real server
// would reject because its text is not in "prompt".
func lmdeployEndpoint() *endpoint {
	return &endpoint{
		Path: "/generate", KnownFields: strings.Fields("prompt input_ids max_tokens stream temperature top_p top_k stop"), Framing: eventFraming(),
		Parse: parseLMDeploy, Done: true, DoneAfterError: true, Refusal: (*apiError).Object,
		Encoder: func(a *AnswerState) encoder { return &lmdeployEncoder{a} },
	}
}

func parseLMDeploy(s *Host, raw []byte) (request, error) {
	b, ids, err := readGenerate(s, raw)
	if err != nil {
		return request{}, err
	}
	j := request{Stream: b.Stream}
	return j, s.SetWork(&j, ids, lengthLimits{Max: b.MaxTokens, Default: generateDefault, Exact: b.IgnoreEOS})
}

// lmdeployObject is a chunk, or an answer in one piece.
type lmdeployObject struct {
	Text      string       `json:"text"`
	OutputIDs []uint32     `json:"output_ids"`
	MetaInfo  lmdeployMeta `json:"meta_info"`
	Stamp
}

type lmdeployMeta struct {
	PromptTokens     *int `json:"prompt_tokens,omitempty"`
	CompletionTokens *int `json:"completion_tokens,omitempty"`
	FinishReason     any  `json:"finish_reason"`
	LogProbs         any  `json:"output_token_logprobs"`
}

// lmdeployEncoder sends pieces. The finish reason has a chunk of its own.
type lmdeployEncoder struct{ *AnswerState }

func (e *lmdeployEncoder) Opening() any { return nil }

func (e *lmdeployEncoder) Tokens(from, to int) []any {
	return []any{e.object(from, to, jsonNull())}
}

func (e *lmdeployEncoder) object(from, to int, finish any) lmdeployObject {
	return lmdeployObject{Text: e.Text(from, to), OutputIDs: e.TokenIDs(from, to), Stamp: e.Stamp(), MetaInfo: lmdeployMeta{
		PromptTokens: e.UsageCount(e.Request.Work.PromptTokens), CompletionTokens: e.UsageCount(to), FinishReason: finish,
	}}
}

// finish returns the finish reason.
func (e *lmdeployEncoder) finish() any {
	return map[string]string{"type": e.Request.Finish}
}

func (e *lmdeployEncoder) Closing(u sim.Usage) []any {
	return []any{e.object(u.OutputTokens, u.OutputTokens, e.finish())}
}

func (e *lmdeployEncoder) Whole(u sim.Usage) any { return e.object(0, u.OutputTokens, e.finish()) }

func aboutLMDeploy(s *Host) map[string]route {
	return map[string]route{"/v1/encode": {Method: http.MethodPost, Serve: func(w http.ResponseWriter, r *http.Request) {
		var b struct{ Input string }
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
			writeError(w, badRequest("the body is not a valid request: %v", err))
			return
		}
		ids := Append(nil, b.Input, s.Config.Model.Vocab)
		writeJSON(w, http.StatusOK, map[string]any{"input_ids": ids, "length": len(ids)})
	}}}
}
