package server

import (
	"encoding/json"
	"maps"
	"math"

	"llmsweep/client/sim"
)

// responsesEndpoint is OpenAI's Responses API, after a capture of vLLM 0.32.0.
func responsesEndpoint() *endpoint {
	return &endpoint{
		fields: `model input instructions stream store max_output_tokens temperature top_p reasoning tools tool_choice
			parallel_tool_calls metadata text truncation user include previous_response_id service_tier`,
		refusal: (*apiError).object, parse: parseResponses,
		encoder: func(a *answer) encoder { return &responsesEncoder{answer: a} },
	}
}

func parseResponses(s *server, raw []byte) (request, error) {
	var b struct {
		modelMember
		Input           json.RawMessage `json:"input"`
		MaxOutputTokens *int            `json:"max_output_tokens"`
		IgnoreEOS       bool            `json:"ignore_eos"`
		Stream          bool            `json:"stream"`
		Reasoning       struct {
			Effort string `json:"effort"`
		} `json:"reasoning"`
	}
	if err := s.read(raw, &b); err != nil {
		return request{}, err
	}
	var conversation []chatMessage
	if json.Unmarshal(b.Input, &conversation) != nil {
		conversation = []chatMessage{{Role: "user", Content: b.Input}}
	}
	ids, err := s.chatTokens(conversation)
	if err != nil {
		return request{}, err
	}
	length := lengthLimits{max: b.MaxOutputTokens, exact: b.IgnoreEOS, fallback: naturalLimit,
		think: b.Reasoning.Effort != "none"}
	if b.IgnoreEOS {
		length.fallback = math.MaxInt
	}
	return s.newRequest(b.Stream, ids, length)
}

type responsesEncoder struct {
	*answer
	sent       int              // events
	items      []map[string]any // the last is open
	firstToken int              // of the last item
}

func (e *responsesEncoder) next(b []byte, kind string, members map[string]any) []byte {
	members["sequence_number"] = e.sent
	e.sent++
	return appendEvent(b, "response."+kind, members)
}

func (e *responsesEncoder) part(b []byte, kind string, members map[string]any) []byte {
	i := len(e.items) - 1
	members["item_id"], members["output_index"], members["content_index"] = e.items[i]["id"], i, 0
	return e.next(b, kind, members)
}

func (e *responsesEncoder) opening(b []byte) []byte {
	return e.next(b, "created", map[string]any{"response": e.response("in_progress")})
}

func (e *responsesEncoder) response(status string) map[string]any {
	output := append([]map[string]any{}, e.items...)
	return map[string]any{
		"id": "resp_" + e.id, "object": "response", "created_at": e.created.Unix(), "model": e.model(),
		"status": status, "output": output, "error": nil, "incomplete_details": nil, "usage": nil,
	}
}

func (e *responsesEncoder) tokens(b []byte, from, to int) []byte {
	if from == 0 || from == e.work.ReasoningTokens {
		b = e.open(e.close(b, from), from)
	}
	return e.part(b, e.textKind()+".delta", map[string]any{"delta": e.text(from, to)})
}

func (e *responsesEncoder) open(b []byte, from int) []byte {
	e.firstToken = from
	item := map[string]any{"id": "msg_" + e.id, "type": "message", "role": "assistant", "status": "in_progress"}
	if from < e.work.ReasoningTokens {
		item = map[string]any{"id": "rs_" + e.id, "type": "reasoning", "summary": []any{}, "status": "in_progress"}
	}
	e.items = append(e.items, item)
	b = e.next(b, "output_item.added", map[string]any{"item": item, "output_index": len(e.items) - 1})
	return e.part(b, "content_part.added", map[string]any{"part": map[string]any{"type": e.textKind(), "text": ""}})
}

func (e *responsesEncoder) textKind() string {
	if e.items[len(e.items)-1]["type"] == "reasoning" {
		return "reasoning_text"
	}
	return "output_text"
}

// close closes the open item, if any, after a token. Its events repeat the whole text.
func (e *responsesEncoder) close(b []byte, to int) []byte {
	if len(e.items) == 0 {
		return b
	}
	kind, text := e.textKind(), e.text(e.firstToken, to)
	item := maps.Clone(e.items[len(e.items)-1])
	item["status"], item["content"] = "completed", []any{map[string]any{"type": kind, "text": text}}
	e.items[len(e.items)-1] = item
	b = e.part(b, kind+".done", map[string]any{"text": text})
	b = e.part(b, "content_part.done", map[string]any{"part": map[string]any{"type": kind, "text": text}})
	return e.next(b, "output_item.done", map[string]any{"item": item, "output_index": len(e.items) - 1})
}

// closing ends the stream. vLLM calls the event of a cut answer "completed", too.
func (e *responsesEncoder) closing(b []byte, u sim.Usage) []byte {
	return e.next(e.close(b, u.OutputTokens), "completed", map[string]any{"response": e.finalResponse(u)})
}

func (e *responsesEncoder) finalResponse(u sim.Usage) map[string]any {
	r := e.response("completed")
	if e.finish == "length" {
		r["status"], r["incomplete_details"] = "incomplete", map[string]string{"reason": "max_output_tokens"}
	}
	if !e.NoUsage {
		r["usage"] = map[string]any{
			"input_tokens": u.PromptTokens, "input_tokens_details": map[string]int{"cached_tokens": u.CachedTokens},
			"output_tokens": u.OutputTokens, "output_tokens_details": map[string]int{"reasoning_tokens": u.ReasoningTokens},
			"total_tokens": u.PromptTokens + u.OutputTokens,
		}
	}
	return r
}

func (e *responsesEncoder) whole(u sim.Usage) any {
	if n := e.work.ReasoningTokens; n > 0 {
		e.close(e.open(nil, 0), n)
	}
	e.close(e.open(nil, e.work.ReasoningTokens), u.OutputTokens)
	return e.finalResponse(u)
}
