package server

import (
	"encoding/json"
	"net/http"

	"llmsweep/client/sim"
)

// messagesEndpoint is Anthropic's Messages API, after Anthropic's reference: the prompt's count leaves out what was in
// the prefix cache, so message_start comes with the first token.
func messagesEndpoint() *endpoint {
	return &endpoint{
		fields: `model messages system stream max_tokens temperature top_p top_k thinking tools tool_choice stop_sequences metadata
			service_tier container mcp_servers`,
		refusal: anthropicRefusal, parse: parseMessages,
		encoder: func(a *answer) encoder { return &messagesEncoder{answer: a} },
	}
}

func parseMessages(s *server, raw []byte) (request, error) {
	var b struct {
		modelMember
		Messages  []chatMessage   `json:"messages"`
		System    json.RawMessage `json:"system"`
		MaxTokens *int            `json:"max_tokens"`
		Stream    bool            `json:"stream"`
		Thinking  struct {
			Type   string `json:"type"`
			Budget int    `json:"budget_tokens"`
		} `json:"thinking"`
	}
	if err := s.read(raw, &b); err != nil {
		return request{}, err
	}
	if b.MaxTokens == nil {
		return request{}, badRequest("max_tokens: Field required")
	}
	if b.Thinking.Type == "enabled" && b.Thinking.Budget >= *b.MaxTokens {
		return request{}, badRequest("`max_tokens` must be greater than `thinking.budget_tokens`")
	}
	conversation := b.Messages
	if len(b.System) > 0 {
		conversation = append([]chatMessage{{Role: "system", Content: b.System}}, b.Messages...)
	}
	ids, err := s.chatTokens(conversation)
	if err != nil {
		return request{}, err
	}
	return s.newRequest(b.Stream, ids, lengthLimits{max: b.MaxTokens, think: b.Thinking.Type != "disabled"})
}

type messagesEncoder struct {
	*answer
	block  string // type of the open block; empty for none
	blocks int    // closed so far
}

func (e *messagesEncoder) opening(b []byte) []byte { return b }

func (e *messagesEncoder) message(n int) map[string]any {
	m := map[string]any{
		"id": "msg_" + e.id, "type": "message", "role": "assistant", "model": e.model(), "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
	}
	if !e.NoUsage {
		cached := e.running.CachedTokens()
		m["usage"] = map[string]any{
			"input_tokens": e.work.PromptTokens - cached, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0,
			"output_tokens": n,
		}
	}
	return m
}

func (e *messagesEncoder) tokens(b []byte, from, to int) []byte {
	if from == 0 {
		b = appendEvent(b, "message_start", map[string]any{"message": e.message(0)})
		b = appendEvent(b, "ping", nil)
	}
	if from == 0 || from == e.work.ReasoningTokens {
		b = e.open(e.close(b), from)
	}
	delta := map[string]any{"type": "text_delta", "text": e.text(from, to)}
	if e.block == "thinking" {
		delta = map[string]any{"type": "thinking_delta", "thinking": e.text(from, to)}
	}
	return appendEvent(b, "content_block_delta", map[string]any{"index": e.blocks, "delta": delta})
}

func (e *messagesEncoder) open(b []byte, from int) []byte {
	block := map[string]any{"type": "text", "text": ""}
	if from < e.work.ReasoningTokens {
		block = map[string]any{"type": "thinking", "thinking": "", "signature": ""}
	}
	e.block = block["type"].(string)
	return appendEvent(b, "content_block_start", map[string]any{"index": e.blocks, "content_block": block})
}

// close closes the open block, if any. Thinking ends with a signature.
func (e *messagesEncoder) close(b []byte) []byte {
	if e.block == "" {
		return b
	}
	if e.block == "thinking" {
		signature := map[string]any{"type": "signature_delta", "signature": "c2ln"}
		b = appendEvent(b, "content_block_delta", map[string]any{"index": e.blocks, "delta": signature})
	}
	b = appendEvent(b, "content_block_stop", map[string]any{"index": e.blocks})
	e.block = ""
	e.blocks++
	return b
}

func (e *messagesEncoder) closing(b []byte, u sim.Usage) []byte {
	delta := map[string]any{"delta": map[string]any{"stop_reason": e.stopReason(), "stop_sequence": nil}}
	if !e.NoUsage {
		delta["usage"] = map[string]any{"output_tokens": u.OutputTokens}
	}
	return appendEvent(appendEvent(e.close(b), "message_delta", delta), "message_stop", nil)
}

func (e *messagesEncoder) stopReason() string {
	if e.finish == "length" {
		return "max_tokens"
	}
	return "end_turn"
}

func (e *messagesEncoder) whole(u sim.Usage) any {
	m := e.message(u.OutputTokens)
	thought := e.work.ReasoningTokens
	var content []any
	if thought > 0 {
		content = append(content, map[string]any{"type": "thinking", "thinking": e.text(0, thought), "signature": "c2ln"})
	}
	m["stop_reason"] = e.stopReason()
	m["content"] = append(content, map[string]any{"type": "text", "text": e.text(thought, u.OutputTokens)})
	return m
}

const (
	overloaded       = "overloaded_error" // Anthropic's kind of error
	statusOverloaded = 529
)

func anthropicRefusal(e *apiError) any {
	kind := map[int]string{
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error",
		http.StatusNotFound: "not_found_error", http.StatusTooManyRequests: "rate_limit_error", statusOverloaded: overloaded,
	}[e.Status]
	switch {
	case e.Kind == overloaded: // with status 429, too
		kind = overloaded
	case kind == "":
		kind = "api_error"
	}
	return namedEvent{"error", map[string]any{"error": map[string]any{"type": kind, "message": e.Message}}}
}
