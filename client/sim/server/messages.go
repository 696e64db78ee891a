package server

import (
	"encoding/json"
	"net/http"
	"strings"

	"llmsweep/client/sim"
)

// messagesStyle has the properties in which servers differ, after captures of vLLM 0.32.0 and llama-server b11434, and
// Anthropic's reference.
type messagesStyle struct {
	split   bool // the prompt's count leaves out what was in the prefix cache; message_start comes with the first token then
	repeats bool // message_delta repeats the prompt's count
	pings   bool // a ping follows message_start
}

// messagesEndpoint is Anthropic's Messages API in a server's style.
func messagesEndpoint(style messagesStyle) func() *endpoint {
	return func() *endpoint {
		return &endpoint{
			path: "/v1/messages", framing: events(), refusal: anthropicRefusal, parse: parseMessages,
			known: strings.Fields("model messages system stream max_tokens temperature top_p top_k thinking tools tool_choice " +
				"stop_sequences metadata service_tier container mcp_servers"),
			encoder: func(a *answer) encoder { return &messagesEncoder{answer: a, style: style} },
		}
	}
}

func parseMessages(s *host, raw []byte) (request, error) {
	var b struct {
		Model     string          `json:"model"`
		Messages  []chatMessage   `json:"messages"`
		System    json.RawMessage `json:"system"`
		MaxTokens *int            `json:"max_tokens"`
		Stream    bool            `json:"stream"`
		Thinking  struct {
			Type   string `json:"type"`
			Budget int    `json:"budget_tokens"`
		} `json:"thinking"`
		tools
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return request{}, badRequest("the body is not a valid request: %v", err)
	}
	if b.MaxTokens == nil {
		return request{}, badRequest("max_tokens: Field required")
	}
	if err := s.checkModel(b.Model); err != nil {
		return request{}, err
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
	j := request{chat: true, stream: b.Stream, tool: b.called()}
	if err := s.settle(&j, ids, wish{most: b.MaxTokens}); err != nil {
		return request{}, err
	}
	if b.Thinking.Type != "disabled" {
		j.seq.ReasoningTokens = min(s.options.Think, j.seq.OutputTokens)
	}
	return j, nil
}

// messagesEncoder sends the answer as content blocks: thinking, then text or the use of a tool.
type messagesEncoder struct {
	*answer
	style   messagesStyle
	started bool
	block   string // the type of the one that is open; empty for none
	blocks  int    // closed so far
}

func (e *messagesEncoder) opening() any {
	if e.style.split {
		return nil // the cached part of the prompt is known with the first token
	}
	e.started = true
	return e.start()
}

// start returns the event that opens the message.
func (e *messagesEncoder) start() any {
	return e.event("message_start", map[string]any{"message": e.message(0)})
}

// message returns the message without its content, after n tokens.
func (e *messagesEncoder) message(n int) map[string]any {
	m := map[string]any{
		"id": "msg_" + e.id, "type": "message", "role": "assistant", "model": e.host.options.ModelID, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
	}
	if !e.host.options.NoUsage {
		u := e.prompt()
		u["output_tokens"] = n
		m["usage"] = u
	}
	return m
}

// prompt returns the counts of the prompt.
func (e *messagesEncoder) prompt() map[string]any {
	n := e.request.seq.PromptTokens
	if !e.style.split {
		return map[string]any{"input_tokens": n}
	}
	return map[string]any{"input_tokens": n - e.cached(), "cache_read_input_tokens": e.cached(), "cache_creation_input_tokens": 0}
}

func (e *messagesEncoder) tokens(from, to int) (all []any) {
	if !e.started {
		e.started = true
		all = append(all, e.start())
		if e.style.pings {
			all = append(all, e.event("ping", nil))
		}
	}
	if from == e.request.seq.ReasoningTokens {
		all = append(all, e.close()...)
	}
	if e.block == "" {
		all = append(all, e.open(from))
	}
	delta := map[string]any{"type": "text_delta", "text": e.text(from, to)}
	switch e.block {
	case "thinking":
		delta = map[string]any{"type": "thinking_delta", "thinking": e.text(from, to)}
	case "tool_use":
		delta = map[string]any{"type": "input_json_delta", "partial_json": e.arguments(from, to)}
	}
	return append(all, e.event("content_block_delta", map[string]any{"index": e.blocks, "delta": delta}))
}

// open opens the block that begins after a token.
func (e *messagesEncoder) open(from int) any {
	block := map[string]any{"type": "text", "text": ""}
	switch {
	case from < e.request.seq.ReasoningTokens:
		block = map[string]any{"type": "thinking", "thinking": "", "signature": ""}
	case e.request.tool != "":
		block = map[string]any{"type": "tool_use", "id": "toolu_" + e.id, "name": e.request.tool, "input": map[string]any{}}
	}
	e.block = block["type"].(string)
	return e.event("content_block_start", map[string]any{"index": e.blocks, "content_block": block})
}

// close closes the open block, if any. Thinking is signed at its end.
func (e *messagesEncoder) close() (all []any) {
	switch e.block {
	case "":
		return nil
	case "thinking":
		signature := map[string]any{"type": "signature_delta", "signature": "c2ln"}
		all = append(all, e.event("content_block_delta", map[string]any{"index": e.blocks, "delta": signature}))
	}
	all = append(all, e.event("content_block_stop", map[string]any{"index": e.blocks}))
	e.block = ""
	e.blocks++
	return all
}

func (e *messagesEncoder) closing(u sim.Usage) []any {
	delta := map[string]any{"delta": map[string]any{"stop_reason": e.stopReason(), "stop_sequence": nil}}
	if !e.host.options.NoUsage {
		usage := map[string]any{}
		if e.style.repeats {
			usage = e.prompt()
		}
		usage["output_tokens"] = u.OutputTokens
		delta["usage"] = usage
	}
	return append(e.close(), e.event("message_delta", delta), e.event("message_stop", nil))
}

func (e *messagesEncoder) stopReason() string {
	return map[string]string{"length": "max_tokens", "stop": "end_turn", "tool_calls": "tool_use"}[e.ending()]
}

func (e *messagesEncoder) whole(u sim.Usage) any {
	m := e.message(u.OutputTokens)
	m["stop_reason"] = e.stopReason()
	thought := e.request.seq.ReasoningTokens
	var content []any
	if thought > 0 {
		content = append(content, map[string]any{"type": "thinking", "thinking": e.text(0, thought), "signature": "c2ln"})
	}
	if e.request.tool != "" {
		input := json.RawMessage(e.arguments(thought, u.OutputTokens))
		if !json.Valid(input) {
			input = json.RawMessage("{}") // cut
		}
		content = append(content, map[string]any{"type": "tool_use", "id": "toolu_" + e.id, "name": e.request.tool, "input": input})
	} else {
		content = append(content, map[string]any{"type": "text", "text": e.text(thought, u.OutputTokens)})
	}
	m["content"] = content
	return m
}

// anthropicRefusal is Anthropic's error object.
func anthropicRefusal(e *apiError) any {
	kind := map[int]string{
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error",
		http.StatusNotFound: "not_found_error", http.StatusTooManyRequests: "rate_limit_error", statusOverloaded: "overloaded_error",
	}[e.Status]
	if kind == "" {
		kind = "api_error"
	}
	return namedEvent{kind: "error", members: map[string]any{"error": map[string]any{"type": kind, "message": e.Message}}}
}

// statusOverloaded is Anthropic's status of a service that is overloaded.
const statusOverloaded = 529

// aboutAnthropic returns the pages of Anthropic's service.
func aboutAnthropic(s *host) map[string]route {
	list := page(map[string]any{
		"data":     []any{map[string]any{"type": "model", "id": s.options.ModelID, "display_name": s.options.ModelID, "created_at": s.started}},
		"has_more": false, "first_id": s.options.ModelID, "last_id": s.options.ModelID,
	})
	return map[string]route{"/v1/models": {http.MethodGet, list}}
}
