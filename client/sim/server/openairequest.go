package server

import (
	"encoding/json"
	"math"
	"slices"

	"llmsweep/client/sim"
	"llmsweep/client/sim/tokenizer"
)

// body holds the fields of a request to OpenAI's endpoints that are used.
type body struct {
	Model               string          `json:"model"`
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
	tools
}

// parseOpenAI parses the body of a request to one of OpenAI's endpoints.
func (s *host) parseOpenAI(raw []byte, chat bool) (request, error) {
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return request{}, badRequest("the body is not a valid request: %v", err)
	}
	if err := s.checkModel(b.Model); err != nil {
		return request{}, err
	}
	ids, err := s.promptTokens(&b, chat)
	if err != nil {
		return request{}, err
	}
	j := request{chat: chat, stream: b.Stream}
	if chat {
		j.tool = b.called()
	}
	j.usage = (b.StreamOptions.IncludeUsage || s.options.UsageEveryChunk) && !s.options.NoUsage
	j.continuousUsage = j.usage && (b.StreamOptions.ContinuousUsageStats || s.options.UsageEveryChunk)
	w := wish{most: b.MaxTokens, forced: b.IgnoreEOS, least: b.MinTokens, otherwise: sim.DefaultOutputTokens}
	if b.MaxCompletionTokens != nil && s.name != "ollama" { // which ignores it
		w.most = b.MaxCompletionTokens
	}
	if chat {
		w.otherwise = math.MaxInt
		if !b.IgnoreEOS {
			w.otherwise = naturalLimit
		}
	}
	if s.natural {
		w.forced, w.least = false, 0
	}
	if s.name == "ollama" {
		ids = cut(ids, ollamaContext)
	}
	if err := s.settle(&j, ids, w); err != nil {
		return request{}, err
	}
	if chat && b.thinks() {
		j.seq.ReasoningTokens = min(s.options.Think, j.seq.OutputTokens)
	}
	return j, nil
}

// thinks reports whether a chat's answer begins with reasoning, if the model has any.
func (b *body) thinks() bool {
	k := b.ChatTemplateKwargs.EnableThinking
	return (k == nil || *k) && b.ReasoningEffort != "none"
}

// promptTokens returns the ids of a request's prompt.
func (s *host) promptTokens(b *body, chat bool) ([]uint32, error) {
	if !chat {
		return completionPrompt(b.Prompt, s.config.Model.Vocab)
	}
	return s.chatTokens(b.Messages)
}

// completionPrompt returns the ids of a prompt: a string, token ids, or a list with one of them.
func completionPrompt(raw json.RawMessage, vocab int) ([]uint32, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 && !isNumber(list[0]) {
		raw = list[0]
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return tokenizer.Append(nil, text, vocab), nil
	}
	var ids []uint32
	if json.Unmarshal(raw, &ids) != nil {
		return nil, badRequest("prompt must be a string, token ids, or a list of one of them")
	}
	if slices.ContainsFunc(ids, func(id uint32) bool { return id >= uint32(vocab) }) {
		return nil, badRequest("the prompt holds a token id that is out of vocabulary (%d)", vocab)
	}
	return ids, nil
}

func isNumber(raw json.RawMessage) bool { return raw[0] >= '0' && raw[0] <= '9' || raw[0] == '-' }
