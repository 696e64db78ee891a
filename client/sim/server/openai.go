package server

import (
	"encoding/json"
	"math"
	"strconv"

	"llmsweep/client/sim"
)

// openAIEndpoint is OpenAI's chat completions or plain completions as vLLM has them, after its
// vllm/entrypoints/openai/serving_chat.py and serving_completion.py.
func openAIEndpoint(chat bool) *endpoint {
	return &endpoint{
		fields: `model messages prompt max_tokens max_completion_tokens temperature top_p n stream stream_options stop seed
			presence_penalty frequency_penalty logit_bias user response_format tools tool_choice parallel_tool_calls best_of suffix
			store metadata reasoning_effort service_tier`,
		refusal: (*apiError).object, done: true,
		parse:   func(s *server, raw []byte) (request, error) { return s.parseOpenAI(raw, chat) },
		encoder: func(a *answer) encoder { return newOpenAIEncoder(a, chat) },
	}
}

type body struct {
	modelMember
	Messages            []chatMessage   `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	MinTokens           int             `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	Stream              bool            `json:"stream"`
	StreamOptions       struct {
		IncludeUsage         bool `json:"include_usage"`
		ContinuousUsageStats bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
	ChatTemplateKwargs struct {
		EnableThinking *bool `json:"enable_thinking"`
	} `json:"chat_template_kwargs"`
	ReasoningEffort string `json:"reasoning_effort"`
}

func (s *server) parseOpenAI(raw []byte, chat bool) (request, error) {
	var b body
	if err := s.read(raw, &b); err != nil {
		return request{}, err
	}
	ids, err := s.promptTokens(&b, chat)
	if err != nil {
		return request{}, err
	}
	length := lengthLimits{max: b.MaxTokens, exact: b.IgnoreEOS, min: b.MinTokens, fallback: sim.DefaultOutputTokens}
	if b.MaxCompletionTokens != nil {
		length.max = b.MaxCompletionTokens
	}
	if chat {
		length.fallback = naturalLimit
		if b.IgnoreEOS {
			length.fallback = math.MaxInt
		}
		enabled := b.ChatTemplateKwargs.EnableThinking
		length.think = (enabled == nil || *enabled) && b.ReasoningEffort != "none"
	}
	req, err := s.newRequest(b.Stream, ids, length)
	req.usage = b.StreamOptions.IncludeUsage && !s.NoUsage
	req.continuous = req.usage && b.StreamOptions.ContinuousUsageStats
	return req, err
}

func (s *server) promptTokens(b *body, chat bool) ([]uint32, error) {
	if chat {
		return s.chatTokens(b.Messages)
	}
	return completionPrompt(b.Prompt, s.config.Model.Vocab)
}

// openAIEncoder concatenates chunks: to marshal each takes a large part of the time of a simulation.
type openAIEncoder struct {
	*answer
	chat bool
	head []byte // of each chunk, up to the elements of its choices
}

func newOpenAIEncoder(a *answer, chat bool) *openAIEncoder {
	object, prefix := "text_completion", "cmpl-"
	if chat {
		object, prefix = "chat.completion.chunk", "chatcmpl-"
	}
	e := &openAIEncoder{answer: a, chat: chat}
	e.head = append(e.head, `data: {"id":"`+prefix+a.id+`","object":"`+object+`","created":`...)
	e.head = append(strconv.AppendInt(e.head, a.created.Unix(), 10), `,"model":`...)
	e.head = append(appendText(e.head, a.model()), `,"choices":[`...)
	return e
}

// opening is the role chunk of a chat, without a token.
func (e *openAIEncoder) opening(b []byte) []byte {
	if !e.chat {
		return b
	}
	b = append(append(b, e.head...), `{"index":0,"delta":{"role":"assistant","content":""`...)
	return e.end(b, "", 0)
}

func (e *openAIEncoder) tokens(b []byte, from, to int) []byte {
	b = append(append(b, e.head...), `{"index":0,`...)
	switch {
	case !e.chat:
		b = append(b, `"text":`...)
	case from < e.work.ReasoningTokens:
		b = append(b, `"delta":{"`+e.ReasoningField+`":`...)
	default:
		b = append(b, `"delta":{"content":`...)
	}
	b = appendText(b, e.text(from, to))
	finish := ""
	if to == e.work.OutputTokens && !e.chat && e.finish == "length" { // a natural end has a chunk of its own
		finish = e.finish
	}
	return e.end(b, finish, to)
}

func (e *openAIEncoder) end(b []byte, finish string, n int) []byte {
	if e.chat {
		b = append(b, '}')
	}
	if finish == "" {
		b = append(b, `,"logprobs":null,"finish_reason":null}]`...)
	} else {
		b = append(b, `,"logprobs":null,"finish_reason":"`+finish+`","stop_reason":null}]`...)
	}
	switch {
	case e.continuous:
		b = append(b, `,"usage":{"prompt_tokens":`...)
		b = append(strconv.AppendInt(b, int64(e.work.PromptTokens), 10), `,"total_tokens":`...)
		b = append(strconv.AppendInt(b, int64(e.work.PromptTokens+n), 10), `,"completion_tokens":`...)
		b = append(strconv.AppendInt(b, int64(n), 10), '}')
	case e.usage:
		b = append(b, `,"usage":null`...)
	}
	return append(b, "}\n\n"...)
}

// closing is a chunk with the finish reason, where that was not sent with the text, and one with the usage.
func (e *openAIEncoder) closing(b []byte, u sim.Usage) []byte {
	if e.chat || e.finish != "length" {
		b = append(append(b, e.head...), `{"index":0,`...)
		if e.chat {
			b = append(b, `"delta":{"content":""`...)
		} else {
			b = append(b, `"text":""`...)
		}
		b = e.end(b, e.finish, u.OutputTokens)
	}
	if e.usage {
		b = append(append(b, e.head...), `],"usage":`...)
		b = append(append(b, marshal(e.counts(u))...), "}\n\n"...)
	}
	return b
}

type openAIUsage struct {
	PromptTokens     int            `json:"prompt_tokens"`
	TotalTokens      int            `json:"total_tokens"`
	CompletionTokens int            `json:"completion_tokens"`
	PromptDetails    map[string]int `json:"prompt_tokens_details"`
	OutputDetails    map[string]int `json:"completion_tokens_details,omitempty"`
}

func (e *openAIEncoder) counts(u sim.Usage) openAIUsage {
	c := openAIUsage{PromptTokens: u.PromptTokens, TotalTokens: u.PromptTokens + u.OutputTokens,
		CompletionTokens: u.OutputTokens}
	if e.config.PrefixCache {
		c.PromptDetails = map[string]int{"cached_tokens": u.CachedTokens}
	}
	if u.ReasoningTokens > 0 {
		c.OutputDetails = map[string]int{"reasoning_tokens": u.ReasoningTokens}
	}
	return c
}

func (e *openAIEncoder) whole(u sim.Usage) any {
	choice := map[string]any{"index": 0, "logprobs": nil, "finish_reason": e.finish, "stop_reason": nil}
	all := map[string]any{"id": e.id, "object": "text_completion", "created": e.created.Unix(), "model": e.model(),
		"choices": []any{choice}}
	if e.chat {
		all["object"] = "chat.completion"
		reasoning := e.work.ReasoningTokens
		message := map[string]any{"role": "assistant", "content": e.text(reasoning, u.OutputTokens)}
		if reasoning > 0 {
			message[e.ReasoningField] = e.text(0, reasoning)
		}
		choice["message"] = message
	} else {
		choice["text"] = e.text(0, u.OutputTokens)
	}
	if !e.NoUsage {
		all["usage"] = e.counts(u)
	}
	return all
}
