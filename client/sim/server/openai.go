package server

import (
	"bytes"
	"encoding/json"
	"strconv"
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
func chatEndpoint(s *style) *endpoint {
	return openAIEndpoint(s, "/v1/chat/completions", true)
}
func textEndpoint(s *style) *endpoint { return openAIEndpoint(s, "/v1/completions", false) }

func openAIEndpoint(style *style, path string, chat bool) *endpoint {
	return &endpoint{
		Path: path, KnownFields: knownFields(), Refusal: (*apiError).Object, Done: true,
		Parse:   func(s *Host, raw []byte) (request, error) { return s.ParseOpenAI(raw, chat) },
		Encoder: func(a *AnswerState) encoder { return newOpenAIEncoder(a, style) },
	}
}

// openAIChunk is a chunk of a stream, or an answer in one piece.
type openAIChunk struct {
	ID      string         `json:"id"`
	Object  string         `json:"object"`
	Created int64          `json:"created"`
	Model   string         `json:"model"`
	Choices []openAIChoice `json:"choices"`
	Usage   any            `json:"usage,omitzero"` // null or openAIUsage
	Stamp
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
	*AnswerState
	style       *style
	base        openAIChunk // what all chunks have
	parts       [3][]byte   // of a chunk of text: before the text, up to the counts of tokens, and behind them
	chunkOfText []byte
}

func newOpenAIEncoder(a *AnswerState, style *style) *openAIEncoder {
	object, prefix := "text_completion", "cmpl-"
	if a.Request.Chat {
		object, prefix = "chat.completion.chunk", "chatcmpl-"
	}
	a.ID = prefix + a.ID
	return &openAIEncoder{AnswerState: a, style: style, base: openAIChunk{
		ID: a.ID, Object: object, Created: a.Created.Unix(), Model: a.Host.Options.ModelID,
		Choices: []openAIChoice{},
	}}
}

// Opening is the chunk that opens a chat. It has no token yet.
func (e *openAIEncoder) Opening() any {
	if !e.Request.Chat || e.style.opening == nil {
		return nil
	}
	choice := e.style.choice
	choice.Delta = e.style.opening
	return e.chunk(choice, 0)
}

func (e *openAIEncoder) Tokens(from, to int) []any {
	if e.isTextAlone(from, to) {
		return []any{e.textAlone(from, to)}
	}
	choice := e.choice(from, to)
	if e.IsLast(to) && e.style.finishWithText(e.Request.Chat, e.Request.Finish) {
		e.finish(&choice)
	}
	return []any{e.chunk(choice, to)}
}

// isTextAlone reports whether a chunk with the tokens after from, up to to, differs from others in nothing but its text and its counts.
func (e *openAIEncoder) isTextAlone(from, to int) bool {
	r := &e.Request
	return to > from && from >= r.Work.ReasoningTokens && !e.IsLast(to) && !e.IsToolCall(to) && r.TopLogProbs == 0 && !e.stamps
}

// textAlone returns such a chunk. It is put together, because to encode each takes a large part of the time of a simulation.
func (e *openAIEncoder) textAlone(from, to int) json.RawMessage {
	if e.parts[0] == nil {
		mark := "~the text~"
		choice := e.choice(from, to)
		if e.Request.Chat {
			choice.Delta.Content = mark
		} else {
			choice.Text = &mark
		}
		var behind []byte
		e.parts[0], behind, _ = bytes.Cut(marshal(e.chunk(choice, to)), []byte(`"`+mark+`"`))
		e.parts[1], e.parts[2], _ = bytes.Cut(behind, e.appendCounts(nil, to))
	}
	e.chunkOfText = append(e.chunkOfText[:0], e.parts[0]...)
	if text := e.Text(from, to); strings.ContainsFunc(text, isEscaped) {
		e.chunkOfText = append(e.chunkOfText, marshal(text)...)
	} else {
		e.chunkOfText = append(append(append(e.chunkOfText, '"'), text...), '"')
	}
	e.chunkOfText = append(e.chunkOfText, e.parts[1]...)
	if e.Request.ContinuousUsage {
		e.chunkOfText = e.appendCounts(e.chunkOfText, to)
	}
	e.chunkOfText = append(e.chunkOfText, e.parts[2]...)
	return e.chunkOfText
}

// appendCounts appends what usageOf says of n tokens and not of all.
func (e *openAIEncoder) appendCounts(buf []byte, n int) []byte {
	buf = strconv.AppendInt(append(buf, `"total_tokens":`...), int64(e.Request.Work.PromptTokens+n), 10)
	return strconv.AppendInt(append(buf, `,"completion_tokens":`...), int64(n), 10)
}

// isEscaped reports whether encoding/json may write a character in another way.
func isEscaped(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune("\"\\<>&", r) }

// choice returns a choice with the tokens after from, up to to.
func (e *openAIEncoder) choice(from, to int) openAIChoice {
	choice := e.style.choice
	text := e.Text(from, to)
	if !e.Request.Chat {
		choice.Text = &text
		if e.Request.TopLogProbs > 0 && to > from {
			choice.LogProbs = e.CompletionLogProbs(from, to)
		}
		return choice
	}
	if e.Request.TopLogProbs > 0 && to > from {
		choice.LogProbs = map[string]any{"content": e.ChatLogProbs(from, to)}
	}
	delta := e.style.delta
	switch {
	case from < e.Request.Work.ReasoningTokens && to > from:
		e.reason(&delta, text)
	case e.IsToolCall(to) && to > from:
		delta.Content, delta.ToolCalls = jsonNull(), e.call(from, to)
	case e.IsToolCall(to):
	default:
		delta.Content = text
	}
	choice.Delta = &delta
	return choice
}

// call returns the part of the tool call that the tokens after from, up to to, are.
func (e *openAIEncoder) call(from, to int) []any {
	function := map[string]any{"arguments": e.Arguments(from, to)}
	part := map[string]any{"index": 0, "function": function}
	if from == e.Request.Work.ReasoningTokens {
		function["name"], part["id"], part["type"] = e.Request.Tool, "call_"+e.ID, "function"
	}
	return []any{part}
}

// reason puts reasoning into the field that the server has for it.
func (e *openAIEncoder) reason(d *openAIDelta, text string) {
	if e.Host.Options.ReasoningField == "reasoning" {
		d.Reasoning = text
	} else {
		d.ReasoningContent = text
	}
}

// finish puts the finish reason into a choice.
func (e *openAIEncoder) finish(c *openAIChoice) {
	c.FinishReason, c.StopReason = e.FinishReason(), e.style.stopReason
}

// chunk returns a chunk after which n tokens have been sent.
func (e *openAIEncoder) chunk(choice openAIChoice, n int) openAIChunk {
	c := e.base
	c.Choices = []openAIChoice{choice}
	switch r := &e.Request; {
	case r.ContinuousUsage:
		c.Usage = usageOf(r.Work.PromptTokens, n)
	case r.Usage || e.style.nulls:
		c.Usage = jsonNull()
	}
	c.Stamp = e.Stamp()
	return c
}

// Closing returns what was not sent with the text: a chunk with the finish reason, and one with the usage.
func (e *openAIEncoder) Closing(u sim.Usage) (chunks []any) {
	if !e.style.finishWithText(e.Request.Chat, e.Request.Finish) {
		choice := e.choice(u.OutputTokens, u.OutputTokens)
		e.finish(&choice)
		chunks = append(chunks, e.chunk(choice, u.OutputTokens))
	}
	if e.Request.Usage {
		c := e.base
		e.usage(&c, u)
		c.Stamp = e.Stamp()
		chunks = append(chunks, c)
	}
	return chunks
}

// usage puts the whole usage object into a chunk.
func (e *openAIEncoder) usage(c *openAIChunk, u sim.Usage) {
	usage := usageOf(u.PromptTokens, u.OutputTokens)
	usage.PromptDetails = jsonNull()
	if e.Host.Config.PrefixCache {
		usage.PromptDetails = map[string]int{"cached_tokens": u.CachedTokens}
	}
	if u.ReasoningTokens > 0 {
		usage.OutputDetails = map[string]int{"reasoning_tokens": u.ReasoningTokens}
	}
	c.Usage = usage
}

func usageOf(prompt, output int) openAIUsage {
	return openAIUsage{PromptTokens: prompt, TotalTokens: prompt + output, CompletionTokens: output}
}

func (e *openAIEncoder) Whole(u sim.Usage) any {
	choice := e.style.choice
	e.finish(&choice)
	c := e.base
	if e.Request.Chat {
		c.Object = "chat.completion"
		reasoning := e.Request.Work.ReasoningTokens
		choice.Message = &openAIDelta{Role: "assistant", Content: e.Text(reasoning, u.OutputTokens)}
		if e.Request.Tool != "" {
			choice.Message.Content, choice.Message.ToolCalls = jsonNull(), e.call(reasoning, u.OutputTokens)
		}
		if reasoning > 0 {
			e.reason(choice.Message, e.Text(0, reasoning))
		}
	} else {
		text := e.Text(0, u.OutputTokens)
		choice.Text = &text
	}
	c.Choices = []openAIChoice{choice}
	if !e.Host.Options.NoUsage {
		e.usage(&c, u)
	}
	return c
}
