package client

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
	Encode(dst []byte, r *Request, p *Params) ([]byte, error)
	// NewDecoder returns a decoder for one answer.
	NewDecoder() Decoder
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
	Text      bool   // it carries text: content, reasoning or tool-call text
	Reasoning bool   // all of that text is reasoning
	Tokens    int    // tokens in this chunk, where the server tells; else 0
	Raw       []byte // the answer's text as it stands in the JSON string, escapes and all; valid until the next read
	Finish    string // finish reason, when this frame gives it
	Done      bool   // the terminator
	Error     string // an error object's message: the request failed
	Usage     Usage  // counts this frame told; Unknown where it did not
}

// Usage is a server's own token counts; [Unknown] where it did not tell.
type Usage struct {
	Prompt, Output, Reasoning, Cached int
}

// NoUsage is a Usage that tells nothing.
var NoUsage = Usage{Unknown, Unknown, Unknown, Unknown}

// Params are the parts of a body that are the same for every request of a run.
type Params struct {
	Model       string
	Temperature *float64 // nil leaves it to the server
	Think       *bool    // nil leaves it to the server
	Extra       []byte   // a JSON object merged into each body, its keys winning; nil for none
	Fields      Fields   // which optional fields this server takes
}

// Fields says which optional body fields to send. Strict servers reject what they do not know; the preflight finds out.
type Fields struct {
	IgnoreEOS           bool // "ignore_eos": true, and "min_tokens" where MinTokens is set too
	MinTokens           bool
	StreamUsage         bool // "stream_options": {"include_usage": true}
	ContinuousUsage     bool // a running count on every chunk; asked for only when chunks hold several tokens
	MaxCompletionTokens bool // the length goes by "max_completion_tokens" in place of "max_tokens"
}

// AllFields is what a permissive server takes.
var AllFields = Fields{IgnoreEOS: true, MinTokens: true, StreamUsage: true}
