package selftest

import (
	"encoding/json"
	"strings"
	"time"
)

// PacedOrder is a prompt that says how it shall be answered. The text of each token is then the instant at which it was sent:
// instantDigits digits, nanoseconds of the monotonic clock (see [Clock]).
type PacedOrder struct {
	Phase string `json:"phase,omitempty"`
	// Every is the time from token to token; 0 sends the whole answer at once, without instants.
	Every time.Duration `json:"every,omitempty"`
	// Streams is how many streams begin together, once the requests for all of them have arrived.
	Streams int `json:"streams,omitempty"`
}

// instantDigits is the length of an instant in text: that of the largest int64.
const instantDigits = 19

// orderMark begins a prompt that is an order.
const orderMark = "paced: "

// String returns the order as a prompt.
func (o PacedOrder) String() string {
	b, err := json.Marshal(o)
	if err != nil { // two numbers and a string always marshal
		panic(err)
	}
	return orderMark + string(b)
}

// request is what the server reads of a request's body.
type request struct {
	Messages []struct {
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	Stream              bool            `json:"stream"`
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"`
	MinTokens           int             `json:"min_tokens"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// bytesPerToken is a rough rate for English: the server has no tokenizer.
const bytesPerToken = 4

// tokens returns the length of the prompt, estimated, and that of the answer.
func (r *request) tokens(otherwise int) (prompt, output int) {
	n := len(r.Prompt)
	for _, m := range r.Messages {
		n += len(m.Content)
	}
	output = max(r.MaxTokens, r.MaxCompletionTokens, r.MinTokens)
	if output == 0 {
		output = max(otherwise, 1)
	}
	return max(1, (n+bytesPerToken-1)/bytesPerToken), output
}

// order returns the order in the last message; ok is false for any other prompt.
func (r *request) order() (o PacedOrder, ok bool) {
	if len(r.Messages) == 0 {
		return o, false
	}
	var text string
	if json.Unmarshal(r.Messages[len(r.Messages)-1].Content, &text) != nil {
		return o, false
	}
	text, ok = strings.CutPrefix(text, orderMark)
	return o, ok && json.Unmarshal([]byte(text), &o) == nil
}
