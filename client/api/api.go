// Package api has the HTTP APIs of LLM servers: how each encodes a request and what a piece of its streamed answer
// means. It sends nothing and reads no clock.
package api

import (
	"fmt"
	"strings"
)

// Framing is how a stream is cut into frames.
type Framing int

// The framings that LLM servers use.
const (
	SSE    Framing = iota // server-sent events: "data: ..." lines, a blank line ends an event
	NDJSON                // one JSON object a line
)

// A Dialect is one API: where to send, how to say what is asked, and how to read what comes back.
type Dialect interface {
	// Name is the API's name as --api takes it.
	Name() string
	// Path is where requests go, below the base URL, for the given model.
	Path(model string) string
	// Framing is how answers are cut.
	Framing() Framing
	// Encode appends the body for a request. It is called ahead of time, never between due and sent.
	Encode(r *Request, p *Params) ([]byte, error)
	// NewDecoder returns a decoder for one answer.
	NewDecoder() Decoder
	// Traits are what the API can be told and what it tells.
	Traits() Traits
}

// Traits are what an API can be told, and what it tells, by its definition; servers may do less.
type Traits struct {
	Forces bool   // it can be told to go on after a natural end: Fields.IgnoreEOS
	Thinks bool   // it can be told whether to think: Params.Think
	Counts bool   // it tells how many tokens an answer has
	Bare   bool   // answers end with the end of the body, which has to be a clean one, and with nothing else
	Fields Fields // those that it has
}

// A Decoder turns the frames of one answer into chunks, one at a time. It allocates nothing for ordinary frames.
type Decoder interface {
	// Reset makes the decoder ready for the next answer.
	Reset()
	// Decode reads one frame (an SSE event's data, or one NDJSON line) into c, which it clears first. The frame may
	// be overwritten after it returns. An error means that the frame is not what the API promises.
	Decode(frame []byte, c *Chunk) error
	// Complete reports whether the stream may end here: the terminator or the finish reason was seen.
	Complete() bool
}

// Chunk is what one frame said.
type Chunk struct {
	Text      bool   // it bears tokens: content, reasoning or tool-call text, or a count that has grown
	Reasoning bool   // all of that text is reasoning
	Tokens    int    // tokens in this chunk, where the server tells; else 0
	IDs       int    // ids or log-probs that came so far, for APIs without counts; Unknown where they make no sense
	Raw       []byte // the answer's text as it stands in the JSON string, escapes and all; valid until the next read
	Finish    string // finish reason, when this frame gives it
	Done      bool   // the terminator
	Error     string // an error object's message: the request failed
	Usage     Usage  // counts this frame told; Unknown where it did not
}

// Unknown marks a token count that nobody reported. It is not 0: 0 is a count.
const Unknown = -1

// Usage is a server's own token counts; [Unknown] where it did not tell.
type Usage struct {
	Prompt, Output, Reasoning, Cached int
}

// NoUsage is a Usage that tells nothing.
var NoUsage = Usage{Unknown, Unknown, Unknown, Unknown}

// dialects are all there are, by the names that --api takes.
func dialects() []Dialect {
	return []Dialect{
		openAI{chat: true}, openAI{}, sglang{}, lmdeploy{}, llamacpp{}, ollama{}, ollama{generate: true}, tgi{},
		triton{}, triton{vllm: true},
	}
}

// ByName returns the dialect with the name that --api takes. The error lists all names.
func ByName(name string) (Dialect, error) {
	var names []string
	for _, d := range dialects() {
		if d.Name() == name {
			return d, nil
		}
		names = append(names, d.Name())
	}
	return nil, fmt.Errorf("--api %s: no such API; there are %s", name, strings.Join(names, ", "))
}
