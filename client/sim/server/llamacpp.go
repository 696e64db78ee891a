package server

import (
	"encoding/json"
	"net/http"
	"strings"

	"llmsweep/client/sim"
	"llmsweep/client/sim/tokenizer"
)

// llamacppEndpoint is llama-server's own /completion, after captures of b11669.
func llamacppEndpoint() *endpoint {
	return &endpoint{
		path: "/completion", known: strings.Fields("prompt n_predict stream temperature top_k top_p seed stop cache_prompt n_probs"),
		framing: events(), parse: parseLlamacpp, refusal: llamacppRefusal,
		encoder: func(a *answer) encoder { return &llamacppEncoder{a} },
	}
}

func parseLlamacpp(s *server, raw []byte) (request, error) {
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
	ids, err := completionPrompt(b.Prompt, s.config.Model.Vocab)
	if err != nil {
		return request{}, err
	}
	if b.NPredict != nil && *b.NPredict < 0 {
		b.NPredict = nil // without limit
	}
	j := request{stream: b.Stream, top: s.top(nil, b.NProbs)}
	return j, s.settle(&j, ids, wish{most: b.NPredict, otherwise: naturalLimit, forced: b.IgnoreEOS})
}

// llamacppRefusal is llama-server's error object.
func llamacppRefusal(e *apiError) any {
	kind := "server_error"
	if e.Status < 500 {
		kind = "invalid_request_error"
	}
	return map[string]any{"error": map[string]any{"code": e.Status, "message": e.Message, "type": kind}}
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
	stamp
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

// timings are the counts among what llama-server measures.
type timings struct {
	CacheN     int `json:"cache_n"`
	PromptN    int `json:"prompt_n"`
	PredictedN int `json:"predicted_n"`
}

func timingsOf(u sim.Usage) *timings {
	return &timings{CacheN: u.CachedTokens, PromptN: u.PromptTokens - u.CachedTokens, PredictedN: u.OutputTokens}
}

// llamacppEncoder ends with an object that has "stop":true and everything about the request.
type llamacppEncoder struct{ *answer }

func (e *llamacppEncoder) opening() any { return nil }

func (e *llamacppEncoder) tokens(from, to int) []any {
	o := llamacppObject{
		Content: e.text(from, to), Tokens: e.ids(from, to), IDSlot: -1, TokensPredicted: e.reported(to),
		TokensEvaluated: e.reported(e.request.seq.PromptTokens), stamp: e.stamp(),
	}
	if e.request.top > 0 {
		o.Probabilities = e.places(from, to)
	}
	return []any{o}
}

func (e *llamacppEncoder) closing(u sim.Usage) []any { return []any{e.end(u, "")} }

func (e *llamacppEncoder) whole(u sim.Usage) any { return e.end(u, e.text(0, u.OutputTokens)) }

// end returns the last object.
func (e *llamacppEncoder) end(u sim.Usage, text string) llamacppObject {
	o := llamacppObject{
		Content: text, Tokens: []uint32{}, Stop: true, Model: e.server.options.ModelID, TokensPredicted: e.reported(u.OutputTokens),
		TokensEvaluated: e.reported(e.request.seq.PromptTokens), stamp: e.stamp(),
		llamacppEnd: &llamacppEnd{
			Settings:     llamacppSettings{u.OutputTokens, e.request.stream, []string{"top_k", "temperature"}},
			StopType:     map[string]string{"length": "limit", "stop": "eos"}[e.request.finish],
			TokensCached: u.PromptTokens + u.OutputTokens - 1,
		},
	}
	if !e.server.options.NoUsage {
		o.Timings = timingsOf(u)
	}
	return o
}

func aboutLlamacpp(s *server) map[string]route {
	props := page(map[string]any{
		"default_generation_settings": map[string]any{"n_ctx": s.config.MaxModelLen},
		"total_slots":                 s.config.MaxNumSeqs, "model_alias": s.options.ModelID, "model_path": s.options.ModelID,
		"build_info": "b0-sim"})
	tokenize := func(w http.ResponseWriter, r *http.Request) {
		var b struct{ Content string }
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
			writeError(w, badRequest("the body is not a valid request: %v", err))
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{"tokens": tokenizer.Append([]uint32{}, b.Content, s.config.Model.Vocab)})
	}
	return map[string]route{"/props": {http.MethodGet, props}, "/tokenize": {http.MethodPost, tokenize}}
}
