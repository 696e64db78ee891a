package server

import (
	"encoding/json"
	"net/http"
	"strings"

	"llmsweep/client/sim"
)

// qwenEndOfTurn is the id of <|im_end|> in Qwen2's tokenizer.
const qwenEndOfTurn = 151645

// generateDefault is how many tokens SGLang's and lmdeploy's own /generate send where the request sets no length, or sets
// it in the other engine's field, which both ignore.
const generateDefault = 128

// sglangEndpoint is SGLang's own /generate, after sgl-project/sglang, python/sglang/srt/entrypoints/http_server.py,
// managers/tokenizer_manager.py and io_struct.py, as of 0.5; not checked against a running engine. It also accepts
// lmdeploy's body, which a real server would reject because its prompt is not in "text".
func sglangEndpoint() *endpoint {
	return &endpoint{
		path: "/generate", known: strings.Fields("text input_ids sampling_params stream return_logprob return_text_in_logprobs top_logprobs_num rid"), framing: events(),
		parse: parseSGLang, done: true, doneAfterError: true,
		encoder: func(a *answer) encoder { return &sglangEncoder{a} },
		refusal: func(e *apiError) any { return map[string]any{"error": map[string]string{"message": e.Message}} },
	}
}

// generateBody is a request to either engine. Each uses only its own fields.
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
	MaxTokens     *int `json:"max_tokens"`
	IgnoreEOS     bool `json:"ignore_eos"`
	ReturnLogProb bool `json:"return_logprob"`
	TopLogProbs   int  `json:"top_logprobs_num"`
}

// prompt returns the ids of the request's prompt, whichever field has it.
func (b *generateBody) prompt(vocab int) ([]uint32, error) {
	for _, raw := range []json.RawMessage{b.Text, b.Prompt, b.InputIDs} {
		if len(raw) > 0 && string(raw) != "null" {
			return completionPrompt(raw, vocab)
		}
	}
	return nil, badRequest("Either text, input_ids or input_embeds should be provided.")
}

func parseSGLang(s *server, raw []byte) (request, error) {
	var b generateBody
	if err := json.Unmarshal(raw, &b); err != nil {
		return request{}, badRequest("the body is not a valid request: %v", err)
	}
	ids, err := b.prompt(s.config.Model.Vocab)
	if err != nil {
		return request{}, err
	}
	j := request{stream: b.Stream}
	if b.ReturnLogProb {
		j.top = s.top(nil, max(1, b.TopLogProbs))
	}
	p := b.SamplingParams
	return j, s.settle(&j, ids, wish{most: p.MaxNewTokens, otherwise: generateDefault, least: p.MinNewTokens, forced: p.IgnoreEOS})
}

// sglangObject is a chunk, or an answer in one piece.
type sglangObject struct {
	Text      string     `json:"text"`
	OutputIDs []uint32   `json:"output_ids"`
	MetaInfo  sglangMeta `json:"meta_info"`
	stamp
}

type sglangMeta struct {
	ID               string `json:"id"`
	FinishReason     any    `json:"finish_reason"`
	PromptTokens     *int   `json:"prompt_tokens,omitempty"`
	CompletionTokens *int   `json:"completion_tokens,omitempty"`
	CachedTokens     *int   `json:"cached_tokens,omitempty"`
	LogProbs         any    `json:"output_token_logprobs,omitempty"`
	TopLogProbs      any    `json:"output_top_logprobs,omitempty"`
}

// sglangEncoder sends texts and ids that are cumulative, unless the server was started otherwise.
type sglangEncoder struct{ *answer }

func (e *sglangEncoder) opening() any { return nil }

func (e *sglangEncoder) tokens(from, to int) []any { return []any{e.object(from, to)} }

func (e *sglangEncoder) object(from, to int) sglangObject {
	if e.server.options.Texts != "pieces" {
		from = 0
	}
	m := sglangMeta{
		ID: e.id, FinishReason: null(), PromptTokens: e.reported(e.request.seq.PromptTokens),
		CompletionTokens: e.reported(to), CachedTokens: e.reported(e.cached()),
	}
	if e.request.top > 0 {
		m.LogProbs, m.TopLogProbs = e.triples(from, to)
	}
	switch {
	case !e.last(to):
	case e.request.finish == "length":
		m.FinishReason = struct {
			Type   string `json:"type"`
			Length int    `json:"length"`
		}{"length", to}
	default:
		m.FinishReason = struct {
			Type    string `json:"type"`
			Matched int    `json:"matched"`
		}{"stop", qwenEndOfTurn}
	}
	return sglangObject{Text: e.text(from, to), OutputIDs: e.ids(from, to), MetaInfo: m, stamp: e.stamp()}
}

func (e *sglangEncoder) closing(sim.Usage) []any { return nil }

func (e *sglangEncoder) whole(u sim.Usage) any { return e.object(0, u.OutputTokens) }

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
