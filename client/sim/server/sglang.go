package server

import (
	"encoding/json"

	"llmsweep/client/sim"
)

// sglangEndpoint is SGLang's own /generate, after sgl-project/sglang, python/sglang/srt/entrypoints/http_server.py,
// managers/tokenizer_manager.py and io_struct.py, as of 0.5.
func sglangEndpoint() *endpoint {
	return &endpoint{
		fields: "text input_ids sampling_params stream rid", done: true, parse: parseSGLang,
		encoder: func(a *answer) encoder { return &sglangEncoder{a} },
		refusal: func(e *apiError) any { return map[string]any{"error": map[string]string{"message": e.Message}} },
	}
}

func parseSGLang(s *server, raw []byte) (request, error) {
	const fallback = 128 // tokens, where the request sets no length
	var b struct {
		modelMember
		Text           json.RawMessage `json:"text"`
		InputIDs       json.RawMessage `json:"input_ids"`
		Stream         bool            `json:"stream"`
		SamplingParams struct {
			MaxNewTokens *int `json:"max_new_tokens"`
			MinNewTokens int  `json:"min_new_tokens"`
			IgnoreEOS    bool `json:"ignore_eos"`
		} `json:"sampling_params"`
	}
	if err := s.read(raw, &b); err != nil {
		return request{}, err
	}
	prompt := b.Text
	if len(prompt) == 0 {
		prompt = b.InputIDs
	}
	if len(prompt) == 0 {
		return request{}, badRequest("Either text, input_ids or input_embeds should be provided.")
	}
	ids, err := completionPrompt(prompt, s.config.Model.Vocab)
	if err != nil {
		return request{}, err
	}
	p := b.SamplingParams
	return s.newRequest(b.Stream, ids, lengthLimits{max: p.MaxNewTokens, fallback: fallback, min: p.MinNewTokens,
		exact: p.IgnoreEOS})
}

// sglangEncoder sends cumulative texts and ids, unless Options.Texts says otherwise.
type sglangEncoder struct{ *answer }

func (e *sglangEncoder) opening(b []byte) []byte { return b }

func (e *sglangEncoder) tokens(b []byte, from, to int) []byte {
	return appendObject(b, e.object(from, to))
}

func (e *sglangEncoder) object(from, to int) any {
	const qwenEndOfTurn = 151645 // the id of <|im_end|> in Qwen2's tokenizer
	if e.Texts != "pieces" {
		from = 0
	}
	ids := make([]uint32, 0, to-from)
	for n := from + 1; n <= to; n++ {
		ids = append(ids, id(e.word(n), e.config.Model.Vocab))
	}
	meta := map[string]any{"id": e.id, "finish_reason": nil}
	if to == e.work.OutputTokens {
		meta["finish_reason"] = map[string]any{"type": "stop", "matched": qwenEndOfTurn}
		if e.finish == "length" {
			meta["finish_reason"] = map[string]any{"type": "length", "length": to}
		}
	}
	if !e.NoUsage {
		meta["prompt_tokens"] = e.work.PromptTokens
		meta["completion_tokens"] = to
		meta["cached_tokens"] = e.running.CachedTokens()
	}
	return map[string]any{"text": e.text(from, to), "output_ids": ids, "meta_info": meta}
}

func (e *sglangEncoder) closing(b []byte, _ sim.Usage) []byte { return b }

func (e *sglangEncoder) whole(u sim.Usage) any { return e.object(0, u.OutputTokens) }
