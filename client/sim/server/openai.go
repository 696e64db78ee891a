package server

import (
	"strings"

	"llmsweep/client/sim"
)

// knownFields are the parameters of the OpenAI API, the only ones that a strict server accepts.
func knownFields() []string {
	return strings.Fields(`model messages prompt max_tokens max_completion_tokens temperature top_p n stream
	stream_options stop seed presence_penalty frequency_penalty logprobs top_logprobs logit_bias user response_format
	tools tool_choice parallel_tool_calls echo best_of suffix store metadata reasoning_effort service_tier`)
}

// chatEndpoint and textEndpoint are OpenAI's two endpoints in an engine's style.
func chatEndpoint(s *style) *endpoint { return openAIEndpoint(s, "/v1/chat/completions", true) }
func textEndpoint(s *style) *endpoint { return openAIEndpoint(s, "/v1/completions", false) }

func openAIEndpoint(style *style, path string, chat bool) *endpoint {
	return &endpoint{
		path: path, known: knownFields(), framing: events(), refusal: style.refusal, done: true, doneAfterError: style.doneAfterError,
		parse:   func(s *server, raw []byte) (request, error) { return s.parseOpenAI(raw, chat) },
		encoder: func(a *answer) encoder { return newOpenAIEncoder(a, style) },
	}
}

// openAIChunk is a chunk of a stream, or an answer in one piece.
type openAIChunk struct {
	ID          string         `json:"id"`
	Object      string         `json:"object"`
	Created     int64          `json:"created"`
	Model       string         `json:"model"`
	Fingerprint string         `json:"system_fingerprint,omitempty"`
	Choices     []openAIChoice `json:"choices"`
	Usage       any            `json:"usage,omitzero"` // null or openAIUsage
	Timings     *timings       `json:"timings,omitempty"`
	stamp
}

type openAIChoice struct {
	Index        int          `json:"index"`
	Delta        *openAIDelta `json:"delta,omitempty"`
	Message      *openAIDelta `json:"message,omitempty"`
	Text         *string      `json:"text,omitempty"`
	LogProbs     any          `json:"logprobs,omitzero"`
	MatchedStop  any          `json:"matched_stop,omitzero"`
	FinishReason any          `json:"finish_reason"`
	StopReason   any          `json:"stop_reason,omitzero"`
}

// openAIDelta is a part of a message, or the whole of it.
type openAIDelta struct {
	Role             any `json:"role,omitzero"`
	ToolCalls        any `json:"tool_calls,omitzero"`
	Content          any `json:"content,omitzero"`
	ReasoningContent any `json:"reasoning_content,omitzero"`
	Reasoning        any `json:"reasoning,omitzero"`
}

type openAIUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	TotalTokens      int `json:"total_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	PromptDetails    any `json:"prompt_tokens_details,omitzero"`
	OutputDetails    any `json:"completion_tokens_details,omitzero"`
}

// openAIEncoder encodes chat completions and plain completions.
type openAIEncoder struct {
	*answer
	style *style
	base  openAIChunk // what all chunks have
}

func newOpenAIEncoder(a *answer, style *style) *openAIEncoder {
	object, prefix := "text_completion", "cmpl-"
	if a.request.chat {
		object, prefix = "chat.completion.chunk", "chatcmpl-"
	}
	a.id = prefix + a.id
	return &openAIEncoder{answer: a, style: style, base: openAIChunk{
		ID: a.id, Object: object, Created: a.created.Unix(), Model: a.server.options.ModelID, Fingerprint: style.fingerprint,
		Choices: []openAIChoice{},
	}}
}

// opening is the chunk that opens a chat. It has no token yet.
func (e *openAIEncoder) opening() any {
	if !e.request.chat || e.style.opening == nil {
		return nil
	}
	choice := e.style.choice
	choice.Delta = e.style.opening
	return e.chunk(choice, 0)
}

func (e *openAIEncoder) tokens(from, to int) []any {
	choice := e.choice(from, to)
	if e.last(to) && e.style.finishWithText(e.request.chat, e.request.finish) {
		e.finish(&choice)
	}
	return []any{e.chunk(choice, to)}
}

// choice returns a choice with the tokens after from, up to to.
func (e *openAIEncoder) choice(from, to int) openAIChoice {
	choice := e.style.choice
	text := e.text(from, to)
	if !e.request.chat {
		choice.Text = &text
		if e.request.top > 0 && to > from {
			choice.LogProbs = e.columns(from, to)
		}
		return choice
	}
	if e.request.top > 0 && to > from {
		choice.LogProbs = map[string]any{"content": e.places(from, to)}
	}
	delta := e.style.delta
	switch {
	case from < e.request.seq.ReasoningTokens && to > from:
		e.reason(&delta, text)
	case e.calls(to) && to > from:
		delta.Content, delta.ToolCalls = null(), e.call(from, to)
	case e.calls(to):
	default:
		delta.Content = text
	}
	choice.Delta = &delta
	return choice
}

// call returns the part of the tool call that the tokens after from, up to to, are.
func (e *openAIEncoder) call(from, to int) []any {
	function := map[string]any{"arguments": e.arguments(from, to)}
	part := map[string]any{"index": 0, "function": function}
	if from == e.request.seq.ReasoningTokens {
		function["name"], part["id"], part["type"] = e.request.tool, "call_"+e.id, "function"
	}
	return []any{part}
}

// reason puts reasoning into the field that the server has for it.
func (e *openAIEncoder) reason(d *openAIDelta, text string) {
	if e.server.options.ReasoningField == "reasoning" {
		d.Reasoning = text
	} else {
		d.ReasoningContent = text
	}
}

// finish puts the finish reason into a choice.
func (e *openAIEncoder) finish(c *openAIChoice) {
	c.FinishReason, c.StopReason = e.ending(), e.style.stopReason
}

// chunk returns a chunk after which n tokens have been sent.
func (e *openAIEncoder) chunk(choice openAIChoice, n int) openAIChunk {
	c := e.base
	c.Choices = []openAIChoice{choice}
	switch r := &e.request; {
	case r.continuousUsage:
		c.Usage = usageOf(r.seq.PromptTokens, n)
	case e.style.zeros && r.usage && !r.chat:
		c.Usage = openAIUsage{}
	case r.usage && !e.style.noNulls || e.style.nulls:
		c.Usage = null()
	}
	c.stamp = e.stamp()
	return c
}

// closing returns what was not sent with the text: a chunk with the finish reason, and one with the usage.
func (e *openAIEncoder) closing(u sim.Usage) (chunks []any) {
	counted := false
	if !e.style.finishWithText(e.request.chat, e.request.finish) {
		choice := e.choice(u.OutputTokens, u.OutputTokens)
		if e.style.emptyDelta && e.request.chat {
			choice = e.style.choice
			choice.Delta = &openAIDelta{}
		}
		e.finish(&choice)
		c := e.chunk(choice, u.OutputTokens)
		if e.style.usageOnFinish && !e.request.chat && !e.server.options.NoUsage {
			e.usage(&c, u)
			counted = true
		}
		chunks = append(chunks, c)
	}
	if e.request.usage && !counted {
		c := e.base
		e.usage(&c, u)
		c.stamp = e.stamp()
		chunks = append(chunks, c)
	}
	return chunks
}

// usage puts the whole usage object into a chunk, and llama.cpp's timings behind it.
func (e *openAIEncoder) usage(c *openAIChunk, u sim.Usage) {
	usage := usageOf(u.PromptTokens, u.OutputTokens)
	usage.PromptDetails = null()
	if e.server.config.PrefixCache {
		usage.PromptDetails = map[string]int{"cached_tokens": u.CachedTokens}
	}
	if u.ReasoningTokens > 0 {
		usage.OutputDetails = map[string]int{"reasoning_tokens": u.ReasoningTokens}
	}
	c.Usage = usage
	if e.style.timings {
		c.Timings = timingsOf(u)
	}
}

func usageOf(prompt, output int) openAIUsage {
	return openAIUsage{PromptTokens: prompt, TotalTokens: prompt + output, CompletionTokens: output}
}

func (e *openAIEncoder) whole(u sim.Usage) any {
	choice := e.style.choice
	e.finish(&choice)
	c := e.base
	if e.request.chat {
		c.Object = "chat.completion"
		reasoning := e.request.seq.ReasoningTokens
		choice.Message = &openAIDelta{Role: "assistant", Content: e.text(reasoning, u.OutputTokens)}
		if e.request.tool != "" {
			choice.Message.Content, choice.Message.ToolCalls = null(), e.call(reasoning, u.OutputTokens)
		}
		if reasoning > 0 {
			e.reason(choice.Message, e.text(0, reasoning))
		}
	} else {
		text := e.text(0, u.OutputTokens)
		choice.Text = &text
	}
	c.Choices = []openAIChoice{choice}
	if !e.server.options.NoUsage {
		e.usage(&c, u)
		c.Timings = nil
	}
	return c
}
