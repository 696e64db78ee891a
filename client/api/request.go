package api

import (
	"errors"

	"github.com/tidwall/gjson"
)

// Message is one turn of a conversation as chat APIs take it.
type Message struct {
	Role    string // "system", "user" or "assistant"
	Content string
}

// Request is what to ask, in no API's own words.
type Request struct {
	// Messages is the conversation so far, the new user turn last. APIs without roles get the contents joined
	// by newlines.
	Messages []Message
	// PromptTokens is how many tokens the workload meant the prompt to have; 0 where it did not say.
	PromptTokens int
	// OutputTokens is how many tokens to ask for; 0 leaves the length to the server.
	OutputTokens int
	// KeepText asks for the answer's text in the result: a conversation's next turn needs it, figures do not.
	KeepText bool
}

// Prompt is the request's text for an API without roles.
func (r *Request) Prompt() string {
	if len(r.Messages) == 1 {
		return r.Messages[0].Content
	}
	n := 0
	for _, m := range r.Messages {
		n += len(m.Content) + 1
	}
	b := make([]byte, 0, n)
	for i, m := range r.Messages {
		if i > 0 {
			b = append(b, '\n')
		}
		b = append(b, m.Content...)
	}
	return string(b)
}

// Params are the parts of a body that are the same for every request of a run.
type Params struct {
	Model       string
	Temperature *float64 // nil leaves it to the server
	Think       *bool    // nil leaves it to the server, and so do APIs without the trait Thinks
	Extra       []byte   // a JSON object merged into each body, its keys winning, as each dialect says; nil for none
	Fields      Fields   // which optional fields this server takes
}

// Fields says which optional body fields to send. Strict servers reject what they do not know; the preflight finds out.
type Fields struct {
	IgnoreEOS           bool // "ignore_eos": true, and "min_tokens" where MinTokens is set too
	MinTokens           bool
	StreamUsage         bool // "stream_options": {"include_usage": true}
	ContinuousUsage     bool // a running count on every chunk; asked for only when chunks hold several tokens
	MaxCompletionTokens bool // the length goes by "max_completion_tokens" in place of "max_tokens"
	ReasoningEffort     bool // chat says whether to think by "reasoning_effort" in place of "chat_template_kwargs"
	NoThinking          bool // whether to think is not said at all: the server rejects it
}

// AllFields is what a permissive server takes.
var AllFields = Fields{IgnoreEOS: true, MinTokens: true, StreamUsage: true}

// CheckExtra tells whether the user's additions to the body can be merged into it.
func CheckExtra(extra []byte) error {
	if len(extra) == 0 || gjson.ValidBytes(extra) && gjson.ParseBytes(extra).IsObject() {
		return nil
	}
	return errors.New(`--body: not a JSON object; want something like {"top_p": 0.9}`)
}
