// The engines' own APIs: llama.cpp, lmdeploy, Ollama, SGLang, TGI and Triton. It shares no code with package client/api.

package server

import (
	"encoding/json"
	"net/http"
	"strings"

	"llmsweep/client/sim"
)

// llamacppEndpoint is llama-server's own /completion, after captures of b11669.
func llamacppEndpoint() *endpoint {
	return &endpoint{
		Path: "/completion", KnownFields: strings.Fields("prompt n_predict stream temperature top_k top_p seed stop cache_prompt n_probs"),
		Framing: eventFraming(), Parse: parseLlamacpp, Refusal: llamacppRefusal,
		Encoder: func(a *AnswerState) encoder { return &llamacppEncoder{a} },
	}
}

func parseLlamacpp(s *Host, raw []byte) (request, error) {
	var b struct {
		Prompt    json.RawMessage `json:"prompt"`
		NPredict  *int            `json:"n_predict"`
		IgnoreEOS bool            `json:"ignore_eos"`
		Stream    bool            `json:"stream"`
		NProbs    int             `json:"n_probs"`
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return request{}, badRequest("the body is not a valid request: %v", err)
	}
	ids, err := completionPrompt(b.Prompt, s.Config.Model.Vocab)
	if err != nil {
		return request{}, err
	}
	if b.NPredict != nil && *b.NPredict < 0 {
		b.NPredict = nil // without limit
	}
	j := request{Stream: b.Stream, TopLogProbs: s.WantedLogProbs(nil, b.NProbs)}
	return j, s.SetWork(&j, ids, lengthLimits{Max: b.NPredict, Default: naturalLimit, Exact: b.IgnoreEOS})
}

// llamacppObject is a chunk, or an answer in one piece.
type llamacppObject struct {
	Index           int      `json:"index"`
	Content         string   `json:"content"`
	Tokens          []uint32 `json:"tokens"`
	IDSlot          int      `json:"id_slot"`
	Stop            bool     `json:"stop"`
	Model           string   `json:"model,omitempty"`
	TokensPredicted *int     `json:"tokens_predicted,omitempty"`
	TokensEvaluated *int     `json:"tokens_evaluated,omitempty"`
	*llamacppEnd
	Timings       *timings `json:"timings,omitempty"`
	Probabilities any      `json:"completion_probabilities,omitempty"`
	Stamp
}

// llamacppEnd holds the further fields of the last object of an answer.
type llamacppEnd struct {
	Settings     llamacppSettings `json:"generation_settings"`
	HasNewLine   bool             `json:"has_new_line"`
	Truncated    bool             `json:"truncated"`
	StopType     string           `json:"stop_type"`
	StoppingWord string           `json:"stopping_word"`
	TokensCached int              `json:"tokens_cached"`
}

type llamacppSettings struct {
	NPredict int      `json:"n_predict"`
	Stream   bool     `json:"stream"`
	Samplers []string `json:"samplers"`
}

// llamacppEncoder ends with an object that has "stop":true and everything about the request.
type llamacppEncoder struct{ *AnswerState }

func (e *llamacppEncoder) Opening() any { return nil }

func (e *llamacppEncoder) Tokens(from, to int) []any {
	o := llamacppObject{
		Content: e.Text(from, to), Tokens: e.TokenIDs(from, to), IDSlot: -1, TokensPredicted: e.UsageCount(to),
		TokensEvaluated: e.UsageCount(e.Request.Work.PromptTokens), Stamp: e.Stamp(),
	}
	if e.Request.TopLogProbs > 0 {
		o.Probabilities = e.ChatLogProbs(from, to)
	}
	return []any{o}
}

func (e *llamacppEncoder) Closing(u sim.Usage) []any { return []any{e.end(u, "")} }

func (e *llamacppEncoder) Whole(u sim.Usage) any { return e.end(u, e.Text(0, u.OutputTokens)) }

// end returns the last object.
func (e *llamacppEncoder) end(u sim.Usage, text string) llamacppObject {
	o := llamacppObject{
		Content: text, Tokens: []uint32{}, Stop: true, Model: e.Host.Options.ModelID, TokensPredicted: e.UsageCount(u.OutputTokens),
		TokensEvaluated: e.UsageCount(e.Request.Work.PromptTokens), Stamp: e.Stamp(),
		llamacppEnd: &llamacppEnd{
			Settings:     llamacppSettings{u.OutputTokens, e.Request.Stream, []string{"top_k", "temperature"}},
			StopType:     map[string]string{"length": "limit", "stop": "eos"}[e.Request.Finish],
			TokensCached: u.PromptTokens + u.OutputTokens - 1,
		},
	}
	if !e.Host.Options.NoUsage {
		o.Timings = timingsOf(u)
	}
	return o
}

func aboutLlamacpp(s *Host) map[string]route {
	props := fixedPage(map[string]any{
		"default_generation_settings": map[string]any{"n_ctx": s.Config.MaxModelLen},
		"total_slots":                 s.Config.MaxNumSeqs, "model_alias": s.Options.ModelID, "model_path": s.Options.ModelID,
		"build_info": "b0-sim"})
	tokenize := func(w http.ResponseWriter, r *http.Request) {
		var b struct{ Content string }
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
			writeError(w, badRequest("the body is not a valid request: %v", err))
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"tokens": Append([]uint32{}, b.Content, s.Config.Model.Vocab)})
	}
	return map[string]route{"/props": {Method: http.MethodGet, Serve: props}, "/tokenize": {Method: http.MethodPost, Serve: tokenize}}
}
