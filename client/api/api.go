// Package api has the HTTP APIs of LLM servers: how a request is encoded, how a streamed answer is divided into frames
// ([FrameReader]), and what a frame of it means ([Dialect]). One file has one API; they share the encoder of a request
// body, and the fieldReader of a frame. The package sends nothing and reads no clock.
package api

// Dialect is one API: its path, its request bodies, and its streamed answers.
//
// The user's object, Params.Extra, is merged into the body: its keys replace those of Encode, and a null in it removes
// one. Where an API groups parameters in an object (SGLang's sampling_params), the two objects of that name are merged
// in the same way.
type Dialect interface {
	// Name returns the name that --api takes.
	Name() string
	// Path returns the path of requests below the base URL.
	Path() string
	// Encode returns the body of a request. The error is for requests that the API cannot express.
	Encode(r *Request, p *Params) ([]byte, error)
	// NewDecoder returns a decoder for one answer after another.
	NewDecoder() Decoder
	// Traits returns what the API can do.
	Traits() Traits
}

// Traits are what an API can be told and what it reports, by its definition. Servers may do less.
type Traits struct {
	Auto     bool              // --api auto tries it
	Common   bool              // nearly every server has it: where it is not found, the URL is wrong
	Model    bool              // its requests name the model
	Thinks   bool              // it can be told whether to reason: Params.Think
	Seeds    bool              // it takes a seed of the sampling
	Key      string            // the header that takes the API key as it is; "" for a bearer token
	Header   map[string]string // further headers of each request, by their canonical names
	Fields   Fields            // the optional fields that it has, which are sent unless a server rejects them
	OnDemand Fields            // those that it has too, which are sent only where a server needs them
}

// Decoder turns the frames of one answer into chunks. It allocates nothing for ordinary frames.
type Decoder interface {
	// Reset prepares for the next answer.
	Reset()
	// Decode reads one frame (the data of an event) into c, which it clears first. The frame may be overwritten
	// afterwards. An error means that the frame is not what the API promises.
	Decode(frame []byte, c *Chunk) error
	// Complete reports whether the stream may end here: the terminator or the finish reason was seen.
	Complete() bool
}

// Chunk is the content of one frame.
type Chunk struct {
	Text      bool   // it has tokens: content, reasoning or tool-call text, or a count that has grown
	Reasoning bool   // all of its text is reasoning
	Tokens    int    // tokens in this chunk; 0 where the server does not tell
	Raw       []byte // the answer's text as a JSON string has it, see [Unescape]; valid until the next read
	Finish    string // the finish reason, in the frame that has it
	Done      bool   // it is the terminator
	Error     string // message of an error object: the request failed
	Usage     Usage  // the counts in this frame
}

// Unknown is a token count that was not reported. It differs from 0, which is a count.
const Unknown = -1

// Usage is a server's own token counts, each [Unknown] where it was not reported.
type Usage struct {
	Prompt, Output, Reasoning, Cached int
}

var noUsage = Usage{Unknown, Unknown, Unknown, Unknown}
