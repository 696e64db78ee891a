// Package client makes one request to an LLM server: it encodes it, sends it, times the stream that comes back,
// and classifies how it ended. It knows nothing of schedules, stages or sweeps, and it never retries: a retry
// falsifies a measurement.
package client

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

// Call is a request made ready to be sent: everything that can be done before it is due has been done.
type Call struct {
	Request *Request
	Body    []byte // the encoded body; nil for a doer that needs none
}
