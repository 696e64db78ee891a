package api

// messages is Anthropic's Messages API, which vLLM, SGLang, llama.cpp, Ollama and gateways have too. It follows
// Anthropic's reference, and captured answers of vLLM 0.32.0 and llama-server b11434.
type messages struct{}

var _ Dialect = messages{}

func (messages) Name() string        { return "messages" }
func (messages) Path() string        { return "/v1/messages" }
func (messages) NewDecoder() Decoder { return &messagesDecoder{usage: noMessagesUsage} }

// Traits: the API cannot be told to continue after a natural end. vLLM accepts "ignore_eos" here and ignores it.
func (messages) Traits() Traits {
	const version = "2023-06-01" // of the API, which requests must name
	return Traits{Auto: true, Model: true, Thinks: true, Key: "X-Api-Key",
		Header: map[string]string{"Anthropic-Version": version}}
}

// Anthropic's API requires a length, and a budget for thinking of at least leastThinking tokens, below that length.
const (
	defaultLength = 4096
	leastThinking = 1024
)

// Encode turns thinking on only where the answer is long enough for the least budget of it.
func (messages) Encode(r *Request, p *Params) ([]byte, error) {
	e := newEncoder(p)
	e.Text("model", p.Model)
	var system Request
	rest := make([]Message, 0, len(r.Messages))
	for _, m := range r.Messages {
		if m.Role == "system" {
			system.Messages = append(system.Messages, m)
		} else {
			rest = append(rest, m)
		}
	}
	if len(system.Messages) > 0 {
		e.Text("system", system.Prompt())
	}
	e.Messages("messages", rest)
	e.Flag("stream", true)
	length := r.OutputTokens
	if length <= 0 {
		length = defaultLength
	}
	e.Count("max_tokens", length)
	e.Temperature(p.Temperature)
	switch {
	case p.Think == nil || p.Fields.NoThinking:
	case !*p.Think:
		e.Literal("thinking", `{"type":"disabled"}`)
	case length > leastThinking:
		e.Object("thinking", func(e *encoder) {
			e.Text("type", "enabled")
			e.Count("budget_tokens", max(leastThinking, length/2))
		})
	}
	return e.Finish()
}

// messagesDecoder reads events such as
//
//	{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" a"}}
//
// message_start has the counts of the prompt, and message_delta the count of the answer and the stop reason.
// message_stop is the terminator. The count of the answer in message_start is not final, and is not used.
type messagesDecoder struct {
	template template
	reader   fieldReader
	usage    messagesUsage // latest of each count
	done     bool
}

func (d *messagesDecoder) Reset() {
	d.template.Reset()
	*d = messagesDecoder{reader: d.reader, usage: noMessagesUsage, template: d.template}
}

func (d *messagesDecoder) Complete() bool { return d.done }

type messagesEvent struct {
	kind  []byte        // "type"
	block part          // "content_block"
	delta part          // of the block or of the message
	begun messagesUsage // "message.usage"
	usage messagesUsage
}

type part struct {
	text, thinking  []byte
	call, arguments []byte // a tool's name, and a part of its arguments
	encrypted       []byte // reasoning of "redacted_thinking"
	stop            []byte
}

// messagesUsage has the counts of an event. input leaves out what was written to the prompt cache or read from it.
type messagesUsage struct{ input, cacheWrite, cacheRead, output int }

var noMessagesUsage = messagesUsage{Unknown, Unknown, Unknown, Unknown}

func (d *messagesDecoder) Decode(frame []byte, c *Chunk) error {
	if d.template.Fits(frame, c) {
		return nil
	}
	e := messagesEvent{begun: noMessagesUsage, usage: noMessagesUsage}
	r := &d.reader
	for m := r.Open(frame, c); m.Next(); {
		switch string(m.Key()) {
		case "type":
			e.kind = r.Text()
		case "content_block":
			e.block = readPart(r)
		case "delta":
			e.delta = readPart(r)
		case "message":
			for m := r.Object(); m.Next(); {
				if string(m.Key()) == "usage" {
					e.begun = readMessagesUsage(r)
					e.begun.output = Unknown
				}
			}
		case "usage":
			e.usage = readMessagesUsage(r)
		}
	}
	if done, err := r.Close(c); done {
		return err
	}
	d.fill(frame, &e, c)
	return nil
}

func (d *messagesDecoder) fill(frame []byte, e *messagesEvent, c *Chunk) {
	switch string(e.kind) {
	case "message_start":
		c.Usage = d.usage.merge(&e.begun)
	case "content_block_start":
		d.addText(frame, &e.block, c)
	case "content_block_delta":
		d.addText(frame, &e.delta, c)
	case "message_delta":
		c.Usage = d.usage.merge(&e.usage)
		c.Finish = stopReason(e.delta.stop)
	case "message_stop":
		c.Done, d.done = true, true
	case "error":
		c.Error = ErrorText(frame)
	}
}

func (d *messagesDecoder) addText(frame []byte, p *part, c *Chunk) {
	texts := 0
	var only []byte
	for _, text := range [...][]byte{p.text, p.thinking, p.call, p.arguments, p.encrypted} {
		if len(text) > 0 {
			texts, only = texts+1, text
		}
	}
	if texts == 0 {
		return
	}
	c.Text = true
	c.Reasoning = len(p.text)+len(p.call)+len(p.arguments) == 0
	if len(p.text) > 0 {
		c.Raw = p.text
	}
	if texts == 1 {
		d.template.Learn(frame, only, c)
	}
}

func readPart(r *fieldReader) (p part) {
	var kind []byte
	for m := r.Object(); m.Next(); {
		switch string(m.Key()) {
		case "type":
			kind = r.Text()
		case "text":
			p.text = r.Text()
		case "thinking":
			p.thinking = r.Text()
		case "name":
			p.call = r.Text()
		case "partial_json":
			p.arguments = r.Text()
		case "data":
			p.encrypted = r.Text()
		case "stop_reason":
			p.stop = r.Text()
		}
	}
	if string(kind) != "redacted_thinking" {
		p.encrypted = nil
	}
	return p
}

func readMessagesUsage(r *fieldReader) messagesUsage {
	u := noMessagesUsage
	for m := r.Object(); m.Next(); {
		switch string(m.Key()) {
		case "input_tokens":
			u.input = r.Count()
		case "cache_creation_input_tokens":
			u.cacheWrite = r.Count()
		case "cache_read_input_tokens":
			u.cacheRead = r.Count()
		case "output_tokens":
			u.output = r.Count()
		}
	}
	return u
}

// merge adds the counts that an event has, and returns all so far as other APIs have them.
func (u *messagesUsage) merge(fresh *messagesUsage) Usage {
	for _, to := range [...]struct{ count, fresh *int }{
		{&u.input, &fresh.input}, {&u.cacheWrite, &fresh.cacheWrite}, {&u.cacheRead, &fresh.cacheRead},
		{&u.output, &fresh.output},
	} {
		if *to.fresh != Unknown {
			*to.count = *to.fresh
		}
	}
	all := Usage{Prompt: Unknown, Output: u.output, Reasoning: Unknown, Cached: Unknown}
	if sum := max(0, u.input) + max(0, u.cacheWrite) + max(0, u.cacheRead); u.input != Unknown && sum > 0 {
		all.Prompt, all.Cached = sum, u.cacheRead
	}
	return all
}

func stopReason(raw []byte) string {
	switch string(raw) {
	case "max_tokens":
		return "length"
	case "end_turn", "stop_sequence":
		return "stop"
	case "tool_use":
		return "tool_calls"
	}
	return finishReason(raw)
}
