package server

import (
	"encoding/json"
	"math"
	"slices"

	"llmsweep/client/sim"
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
	ReasoningEffort string          `json:"reasoning_effort"`
	LogProbs        json.RawMessage `json:"logprobs"` // chat: a bool; completions: a number
	TopLogProbs     int             `json:"top_logprobs"`
	Tools
}

// ParseOpenAI parses the body of a request to one of OpenAI's endpoints.
func (s *Host) ParseOpenAI(raw []byte, chat bool) (request, error) {
	var b body
	if err := json.Unmarshal(raw, &b); err != nil {
		return request{}, badRequest("the body is not a valid request: %v", err)
	}
	if err := s.CheckModel(b.Model); err != nil {
		return request{}, err
	}
	ids, err := s.promptTokens(&b, chat)
	if err != nil {
		return request{}, err
	}
	j := request{Chat: chat, Stream: b.Stream}
	if chat {
		j.Tool = b.Called()
	}
	j.Usage = (b.StreamOptions.IncludeUsage || s.Options.UsageEveryChunk) && !s.Options.NoUsage
	j.ContinuousUsage = j.Usage && (b.StreamOptions.ContinuousUsageStats || s.Options.UsageEveryChunk)
	j.TopLogProbs = s.WantedLogProbs(b.LogProbs, b.TopLogProbs)
	w := lengthLimits{Max: b.MaxTokens, Exact: b.IgnoreEOS, Min: b.MinTokens, Default: sim.DefaultOutputTokens}
	if b.MaxCompletionTokens != nil {
		w.Max = b.MaxCompletionTokens
	}
	if chat {
		w.Default = math.MaxInt
		if !b.IgnoreEOS {
			w.Default = naturalLimit
		}
	}
	w.Think = chat && b.thinks()
	if err := s.SetWork(&j, ids, w); err != nil {
		return request{}, err
	}
	return j, nil
}

// thinks reports whether a chat's answer begins with reasoning, if the model has any.
func (b *body) thinks() bool {
	k := b.ChatTemplateKwargs.EnableThinking
	return (k == nil || *k) && b.ReasoningEffort != "none"
}

// promptTokens returns the ids of a request's prompt.
func (s *Host) promptTokens(b *body, chat bool) ([]uint32, error) {
	if !chat {
		return completionPrompt(b.Prompt, s.Config.Model.Vocab)
	}
	return s.ChatTokens(b.Messages)
}

// completionPrompt returns the ids of a prompt: a string, token ids, or a list with one of them.
func completionPrompt(raw json.RawMessage, vocab int) ([]uint32, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) == 1 && !isNumber(list[0]) {
		raw = list[0]
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return Append(nil, text, vocab), nil
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
