package server

import (
	"encoding/json"
	"net/http"
	"strings"

	"llmsweep/client/sim"
)

// messagesStyle has the properties in which servers differ, after a capture of vLLM 0.32.0 and Anthropic's
// reference.
type messagesStyle struct {
	Split   bool // the prompt's count leaves out what was in the prefix cache; message_start comes with the first token then
	Repeats bool // message_delta repeats the prompt's count
	Pings   bool // a ping follows message_start
}

// messagesEndpoint is Anthropic's Messages API in a server's style.
func messagesEndpoint(style messagesStyle) func() *endpoint {
	return func() *endpoint {
		return &endpoint{
			Path: "/v1/messages", Refusal: anthropicRefusal, Parse: parseMessages,
			KnownFields: strings.Fields("model messages system stream max_tokens temperature top_p top_k thinking tools tool_choice " +
				"stop_sequences metadata service_tier container mcp_servers"),
			Encoder: func(a *AnswerState) encoder { return &messagesEncoder{AnswerState: a, style: style} },
		}
	}
}

func parseMessages(s *Host, raw []byte) (request, error) {
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
		Tools
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return request{}, badRequest("the body is not a valid request: %v", err)
	}
	if b.MaxTokens == nil {
		return request{}, badRequest("max_tokens: Field required")
	}
	if err := s.CheckModel(b.Model); err != nil {
		return request{}, err
	}
	if b.Thinking.Type == "enabled" && b.Thinking.Budget >= *b.MaxTokens {
		return request{}, badRequest("`max_tokens` must be greater than `thinking.budget_tokens`")
	}
	conversation := b.Messages
	if len(b.System) > 0 {
		conversation = append([]chatMessage{{Role: "system", Content: b.System}}, b.Messages...)
	}
	ids, err := s.ChatTokens(conversation)
	if err != nil {
		return request{}, err
	}
	j := request{Chat: true, Stream: b.Stream, Tool: b.Called()}
	if err := s.SetWork(&j, ids, lengthLimits{Max: b.MaxTokens, Think: b.Thinking.Type != "disabled"}); err != nil {
		return request{}, err
	}
	return j, nil
}

// messagesEncoder sends the answer as content blocks: thinking, then text or the use of a tool.
type messagesEncoder struct {
	*AnswerState
	style   messagesStyle
	started bool
	block   string // the type of the one that is open; empty for none
	blocks  int    // closed so far
}

func (e *messagesEncoder) Opening() any {
	if e.style.Split {
		return nil // the cached part of the prompt is known with the first token
	}
	e.started = true
	return e.start()
}

// start returns the event that opens the message.
func (e *messagesEncoder) start() any {
	return e.Event("message_start", map[string]any{"message": e.message(0)})
}

// message returns the message without its content, after n tokens.
func (e *messagesEncoder) message(n int) map[string]any {
	m := map[string]any{
		"id": "msg_" + e.ID, "type": "message", "role": "assistant", "model": e.Host.Options.ModelID, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
	}
	if !e.Host.Options.NoUsage {
		u := e.prompt()
		u["output_tokens"] = n
		m["usage"] = u
	}
	return m
}

// prompt returns the counts of the prompt.
func (e *messagesEncoder) prompt() map[string]any {
	n := e.Request.Work.PromptTokens
	if !e.style.Split {
		return map[string]any{"input_tokens": n}
	}
	return map[string]any{"input_tokens": n - e.Cached(), "cache_read_input_tokens": e.Cached(), "cache_creation_input_tokens": 0}
}

func (e *messagesEncoder) Tokens(from, to int) (all []any) {
	if !e.started {
		e.started = true
		all = append(all, e.start())
		if e.style.Pings {
			all = append(all, e.Event("ping", nil))
		}
	}
	if from == e.Request.Work.ReasoningTokens {
		all = append(all, e.close()...)
	}
	if e.block == "" {
		all = append(all, e.open(from))
	}
	delta := map[string]any{"type": "text_delta", "text": e.Text(from, to)}
	switch e.block {
	case "thinking":
		delta = map[string]any{"type": "thinking_delta", "thinking": e.Text(from, to)}
	case "tool_use":
		delta = map[string]any{"type": "input_json_delta", "partial_json": e.Arguments(from, to)}
	}
	return append(all, e.Event("content_block_delta", map[string]any{"index": e.blocks, "delta": delta}))
}

// open opens the block that begins after a token.
func (e *messagesEncoder) open(from int) any {
	block := map[string]any{"type": "text", "text": ""}
	switch {
	case from < e.Request.Work.ReasoningTokens:
		block = map[string]any{"type": "thinking", "thinking": "", "signature": ""}
	case e.Request.Tool != "":
		block = map[string]any{"type": "tool_use", "id": "toolu_" + e.ID, "name": e.Request.Tool, "input": map[string]any{}}
	}
	e.block = block["type"].(string)
	return e.Event("content_block_start", map[string]any{"index": e.blocks, "content_block": block})
}

// close closes the open block, if any. Thinking is signed at its end.
func (e *messagesEncoder) close() (all []any) {
	switch e.block {
	case "":
		return nil
	case "thinking":
		signature := map[string]any{"type": "signature_delta", "signature": "c2ln"}
		all = append(all, e.Event("content_block_delta", map[string]any{"index": e.blocks, "delta": signature}))
	}
	all = append(all, e.Event("content_block_stop", map[string]any{"index": e.blocks}))
	e.block = ""
	e.blocks++
	return all
}

func (e *messagesEncoder) Closing(u sim.Usage) []any {
	delta := map[string]any{"delta": map[string]any{"stop_reason": e.stopReason(), "stop_sequence": nil}}
	if !e.Host.Options.NoUsage {
		usage := map[string]any{}
		if e.style.Repeats {
			usage = e.prompt()
		}
		usage["output_tokens"] = u.OutputTokens
		delta["usage"] = usage
	}
	return append(e.close(), e.Event("message_delta", delta), e.Event("message_stop", nil))
}

func (e *messagesEncoder) stopReason() string {
	return map[string]string{"length": "max_tokens", "stop": "end_turn", "tool_calls": "tool_use"}[e.FinishReason()]
}

func (e *messagesEncoder) Whole(u sim.Usage) any {
	m := e.message(u.OutputTokens)
	m["stop_reason"] = e.stopReason()
	thought := e.Request.Work.ReasoningTokens
	var content []any
	if thought > 0 {
		content = append(content, map[string]any{"type": "thinking", "thinking": e.Text(0, thought), "signature": "c2ln"})
	}
	if e.Request.Tool != "" {
		input := json.RawMessage(e.Arguments(thought, u.OutputTokens))
		if !json.Valid(input) {
			input = json.RawMessage("{}") // cut
		}
		content = append(content, map[string]any{"type": "tool_use", "id": "toolu_" + e.ID, "name": e.Request.Tool, "input": input})
	} else {
		content = append(content, map[string]any{"type": "text", "text": e.Text(thought, u.OutputTokens)})
	}
	m["content"] = content
	return m
}

// overloaded is the kind of error of a service with too much to do.
const overloaded = "overloaded_error"

// anthropicRefusal is Anthropic's error object.
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
	return namedEvent{Kind: "error", Members: map[string]any{"error": map[string]any{"type": kind, "message": e.Message}}}
}

// statusOverloaded is Anthropic's status of a service that is overloaded.
const statusOverloaded = 529

// aboutAnthropic returns the pages of Anthropic's service.
func aboutAnthropic(s *Host) map[string]route {
	list := fixedPage(map[string]any{
		"data":     []any{map[string]any{"type": "model", "id": s.Options.ModelID, "display_name": s.Options.ModelID, "created_at": s.Started}},
		"has_more": false, "first_id": s.Options.ModelID, "last_id": s.Options.ModelID,
	})
	return map[string]route{"/v1/models": {Method: http.MethodGet, Serve: list}}
}
