package server

import (
	"encoding/json"
	"net/http"
	"strings"

	"llmsweep/client/sim"
)

// qwenEndOfTurn is the id of <|im_end|> in Qwen2's tokenizer.
const qwenEndOfTurn = 151645

// generateDefault is how many tokens /generate sends where the request sets no length.
const generateDefault = 128

// sglangEndpoint is SGLang's own /generate, after sgl-project/sglang, python/sglang/srt/entrypoints/http_server.py,
// managers/tokenizer_manager.py and io_struct.py, as of 0.5; not checked against a running engine.
func sglangEndpoint() *endpoint {
	return &endpoint{
		Path: "/generate", KnownFields: strings.Fields("text input_ids sampling_params stream return_logprob return_text_in_logprobs logprob_start_len top_logprobs_num rid"),
		Parse: parseSGLang, Done: true,
		Encoder: func(a *AnswerState) encoder { return &sglangEncoder{a} },
		Refusal: func(e *apiError) any {
			return map[string]any{"error": map[string]string{"message": e.Message}}
		},
	}
}

// generateBody is a request.
type generateBody struct {
	Text           json.RawMessage `json:"text"`
	InputIDs       json.RawMessage `json:"input_ids"`
	Stream         bool            `json:"stream"`
	SamplingParams struct {
		MaxNewTokens *int `json:"max_new_tokens"`
		MinNewTokens int  `json:"min_new_tokens"`
		IgnoreEOS    bool `json:"ignore_eos"`
	} `json:"sampling_params"`
	ReturnLogProb bool `json:"return_logprob"`
	TopLogProbs   int  `json:"top_logprobs_num"`
}

// prompt returns the ids of the request's prompt, whichever field has it.
func (b *generateBody) prompt(vocab int) ([]uint32, error) {
	for _, raw := range []json.RawMessage{b.Text, b.InputIDs} {
		if len(raw) > 0 && string(raw) != "null" {
			return completionPrompt(raw, vocab)
		}
	}
	return nil, badRequest("Either text, input_ids or input_embeds should be provided.")
}

// readGenerate reads a body and the tokens of its prompt.
func readGenerate(s *Host, raw []byte) (b generateBody, ids []uint32, err error) {
	if err := json.Unmarshal(raw, &b); err != nil {
		return b, nil, badRequest("the body is not a valid request: %v", err)
	}
	ids, err = b.prompt(s.Config.Model.Vocab)
	return b, ids, err
}

func parseSGLang(s *Host, raw []byte) (request, error) {
	b, ids, err := readGenerate(s, raw)
	if err != nil {
		return request{}, err
	}
	j := request{Stream: b.Stream}
	if b.ReturnLogProb {
		j.TopLogProbs = s.WantedLogProbs(nil, max(1, b.TopLogProbs))
	}
	p := b.SamplingParams
	return j, s.SetWork(&j, ids, lengthLimits{Max: p.MaxNewTokens, Default: generateDefault, Min: p.MinNewTokens, Exact: p.IgnoreEOS})
}

// sglangObject is a chunk, or an answer in one piece.
type sglangObject struct {
	Text      string     `json:"text"`
	OutputIDs []uint32   `json:"output_ids"`
	MetaInfo  sglangMeta `json:"meta_info"`
	Stamp
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
type sglangEncoder struct{ *AnswerState }

func (e *sglangEncoder) Opening() any { return nil }

func (e *sglangEncoder) Tokens(from, to int) []any { return []any{e.object(from, to)} }

func (e *sglangEncoder) object(from, to int) sglangObject {
	if e.Host.Options.Texts != "pieces" {
		from = 0
	}
	m := sglangMeta{
		ID: e.ID, FinishReason: jsonNull(), PromptTokens: e.UsageCount(e.Request.Work.PromptTokens),
		CompletionTokens: e.UsageCount(to), CachedTokens: e.UsageCount(e.Cached()),
	}
	if e.Request.TopLogProbs > 0 {
		m.LogProbs, m.TopLogProbs = e.SGLangLogProbs(from, to)
	}
	switch {
	case !e.IsLast(to):
	case e.Request.Finish == "length":
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
	return sglangObject{Text: e.Text(from, to), OutputIDs: e.TokenIDs(from, to), MetaInfo: m, Stamp: e.Stamp()}
}

func (e *sglangEncoder) Closing(sim.Usage) []any { return nil }

func (e *sglangEncoder) Whole(u sim.Usage) any { return e.object(0, u.OutputTokens) }

func aboutSGLang(s *Host) map[string]route {
	info := fixedPage(map[string]any{"model_path": s.Options.ModelID, "tokenizer_path": s.Options.ModelID, "is_generation": true})
	state := fixedPage(map[string]any{
		"version": "0.5.2+sim", "served_model_name": s.Options.ModelID, "model_path": s.Options.ModelID,
		"max_total_num_tokens": s.Config.KVTokens, "incremental_streaming_output": s.Options.Texts == "pieces"})
	return map[string]route{
		"/get_model_info":  {Method: http.MethodGet, Serve: info},
		"/get_server_info": {Method: http.MethodGet, Serve: state},
		"/tokenize":        {Method: http.MethodPost, Serve: s.Tokenize},
	}
}
