package api

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// Message is one message of a conversation, as chat APIs take it.
type Message struct {
	Role    string // "system", "user" or "assistant"
	Content string
}

// Request is one request to a server, independent of the API.
type Request struct {
	// Messages is the conversation so far, the new user message last. APIs without roles get the contents joined by
	// newlines.
	Messages []Message
	// PromptTokens is the intended length of the prompt in tokens; 0 where the workload does not set it.
	PromptTokens int
	// OutputTokens is how many tokens to ask for; 0 leaves the length to the server.
	OutputTokens int
	// KeepText asks for the answer's text in the result, which the next turn of a conversation needs.
	KeepText bool
	// Session is the place of the request's session in its stage, from 0.
	Session int
	// Greedy asks for the most likely answer: temperature 0, a fixed seed, and a natural end.
	Greedy bool
}

// Prompt returns the request's text for an API without roles.
func (r *Request) Prompt() string {
	if len(r.Messages) == 1 {
		return r.Messages[0].Content
	}
	var all []string
	for _, m := range r.Messages {
		all = append(all, m.Content)
	}
	return strings.Join(all, "\n")
}

// Params are the settings that all requests of a run share.
type Params struct {
	Model       string
	Temperature *float64 // nil leaves it to the server
	Think       *bool    // whether the model should reason; nil leaves it to the server; ignored without the trait Thinks
	Natural     bool     // answers end by themselves: no field that forbids an end is sent
	Extra       []byte   // the user's JSON object, merged into each body as [Dialect] documents; nil for none
	Fields      Fields   // the optional fields that this server accepts
}

// Fields are the optional body fields to send. Strict servers reject fields that they do not know; the preflight finds
// out which.
type Fields struct {
	IgnoreEOS           bool // "ignore_eos": true, and with MinTokens also "min_tokens"
	MinTokens           bool
	StreamUsage         bool // "stream_options": {"include_usage": true}
	ContinuousUsage     bool // a running count on every chunk; asked for only where chunks hold several tokens
	MaxCompletionTokens bool // the length is "max_completion_tokens" in place of "max_tokens"
	ReasoningEffort     bool // Think is "reasoning_effort" in place of "chat_template_kwargs"
	NoThinking          bool // Think is not sent, because the server rejects it
}

// AllFields are the fields that a permissive server accepts.
var AllFields = Fields{IgnoreEOS: true, MinTokens: true, StreamUsage: true}

// CheckExtra returns an error where the user's additions to the body are not a JSON object, or name a field twice.
func CheckExtra(extra []byte) error {
	if len(extra) == 0 {
		return nil
	}
	v := gjson.ParseBytes(extra)
	if !gjson.ValidBytes(extra) || !v.IsObject() {
		return errors.New(`--body: not a JSON object; want something like {"top_p": 0.9}`)
	}
	objects := []gjson.Result{v}
	v.ForEach(func(_, inner gjson.Result) bool {
		if inner.IsObject() { // may be merged with one of ours
			objects = append(objects, inner)
		}
		return true
	})
	for _, o := range objects {
		if key, ok := repeatedKey(o); ok {
			return fmt.Errorf("--body: the field %q is there twice; leave one out", key)
		}
	}
	return nil
}

func repeatedKey(object gjson.Result) (key string, ok bool) {
	seen := map[string]bool{}
	object.ForEach(func(k, _ gjson.Result) bool {
		key = Key(k)
		ok = seen[key]
		seen[key] = true
		return !ok
	})
	return key, ok
}
