package api

import (
	"bytes"
	"strconv"
)

// openAI is the API that OpenAI introduced and that vLLM, SGLang, lmdeploy, llama.cpp, Ollama and most hosted services
// have: chat completions, or plain completions.
type openAI struct{ chat bool }

var _ Dialect = openAI{}

func (d openAI) Name() string {
	if d.chat {
		return "chat"
	}
	return "completions"
}

func (d openAI) Path(string) string {
	if d.chat {
		return "/v1/chat/completions"
	}
	return "/v1/completions"
}

func (openAI) Framing() Framing { return SSE }

func (openAI) NewDecoder() Decoder { return &openAIDecoder{} }

func (d openAI) Traits() Traits {
	return Traits{Forces: true, Thinks: d.chat, Counts: true, Fields: AllFields}
}

// Encode returns the body. Params.Extra is merged at the top level: its keys replace ours whole, objects included, and
// a null in it leaves our key out.
func (d openAI) Encode(r *Request, p *Params) ([]byte, error) {
	e := newEncoder(p)
	e.text("model", p.Model)
	if d.chat {
		e.messages("messages", r.Messages)
	} else {
		e.text("prompt", r.Prompt())
	}
	e.flag("stream", true)
	e.length(r.OutputTokens, p.Fields)
	switch {
	case p.Fields.StreamUsage && p.Fields.ContinuousUsage:
		e.literal("stream_options", `{"include_usage":true,"continuous_usage_stats":true}`)
	case p.Fields.StreamUsage:
		e.literal("stream_options", `{"include_usage":true}`)
	}
	e.temperature(p.Temperature)
	if d.chat {
		e.think(p)
	}
	return e.finish()
}

// think writes the fields that turn thinking on or off: those of vLLM, SGLang, lmdeploy and llama.cpp, or of OpenAI and Ollama.
func (e *encoder) think(p *Params) {
	switch {
	case p.Think == nil || p.Fields.NoThinking:
	case !p.Fields.ReasoningEffort:
		e.literal("chat_template_kwargs", `{"enable_thinking":`+strconv.FormatBool(*p.Think)+`}`)
	case *p.Think:
		e.text("reasoning_effort", "medium")
	default:
		e.text("reasoning_effort", "none")
	}
}

// openAIDecoder reads the chunks of chat and of plain completions. Servers differ only in which keys they leave out and
// how they order them.
type openAIDecoder struct {
	template template
	reader   reader

	finish  bool // a finish reason was seen
	done    bool // the terminator was seen
	text    bool // text was seen
	counts  bool // counts were seen
	running bool // counts have come with the text since its first chunk
	counted int  // tokens up to the last text
}

func (d *openAIDecoder) Reset() {
	*d = openAIDecoder{reader: d.reader, template: template{head: d.template.head[:0], tail: d.template.tail[:0]}}
}

// Complete reports whether the stream may end: after the finish reason, or after the terminator where there was text
// or a count.
func (d *openAIDecoder) Complete() bool { return d.finish || d.done && (d.text || d.counts) }

// Decode reads one chunk, or the terminator.
func (d *openAIDecoder) Decode(frame []byte, c *Chunk) error {
	if d.template.fits(frame, c) {
		return nil
	}
	if isDone(frame) {
		*c = Chunk{Usage: NoUsage, Done: true}
		d.done = true
		return nil
	}
	f := openAIFields{usage: NoUsage, timings: noTimings}
	for m := d.reader.open(frame, c); m.next(); {
		switch string(m.key()) {
		case "choices":
			f.choice = readChoices(&d.reader)
		case "usage":
			f.usage = readUsage(&d.reader)
		case "timings":
			f.timings = readTimings(&d.reader)
		}
	}
	if done, err := d.reader.close(c); done {
		return err
	}
	if f.finish == "error" || f.finish == "abort" {
		c.Error = "the server ended the answer with the finish reason " + f.finish
		return nil
	}
	d.take(frame, &f, c)
	return nil
}

// take fills c from a chunk's fields.
func (d *openAIDecoder) take(frame []byte, f *openAIFields, c *Chunk) {
	c.Text = f.texts > 0
	c.Reasoning = c.Text && f.texts == f.reasons
	c.Raw = f.answer
	if f.finish != "" {
		c.Finish, d.finish = f.finish, true
	}
	c.Usage = f.counts()
	d.count(c)
	if f.texts == 1 && f.finish == "" && c.Usage == NoUsage {
		d.template.learn(frame, f.only, c)
	}
}

// count works out what a chunk's usage says about the chunk itself. Counts that come with the text from its first chunk
// on are running counts; a single late one is the sum.
func (d *openAIDecoder) count(c *Chunk) {
	known := c.Usage.Output != Unknown
	d.counts = d.counts || known
	if !c.Text {
		return
	}
	if !d.text {
		d.text, d.running = true, known && c.Usage.Output > 0
	}
	if d.running && known {
		c.Tokens = max(c.Usage.Output-d.counted, 0)
		d.counted = c.Usage.Output
	}
}

// openAIFields are the parts of a chunk that are used.
type openAIFields struct {
	choice
	usage   Usage
	timings timings
}

// choice is the first choice of a chunk. Texts are as they stand in the JSON strings.
type choice struct {
	texts   int    // strings with text in them
	reasons int    // those that are reasoning
	only    []byte // the last of them
	answer  []byte // the first that is content, text or refusal
	finish  string
}

// readChoices reads the list of choices. One choice is asked for, so the first counts.
func readChoices(r *reader) (first choice) {
	list := r.list()
	for n := 0; list.next(); n++ {
		if n == 0 {
			first = readChoice(r)
		}
	}
	return first
}

func readChoice(r *reader) choice {
	var text []byte
	var d delta
	finish := ""
	for m := r.object(); m.next(); {
		switch string(m.key()) {
		case "text":
			text = r.text()
		case "delta":
			d = readDelta(r)
		case "finish_reason":
			finish = finishReason(r.text())
		}
	}
	c := choice{finish: finish}
	c.add(text, true)
	c.add(d.content, true)
	c.add(d.refusal, true)
	before := c.texts
	c.add(d.reasoning, false)
	c.add(d.reasoningContent, false)
	c.reasons = c.texts - before
	c.texts += d.calls
	if d.calls > 0 {
		c.only = d.call
	}
	return c
}

// add takes in a string, if it has text in it.
func (c *choice) add(text []byte, answer bool) {
	if len(text) == 0 {
		return
	}
	c.texts++
	c.only = text
	if answer && c.answer == nil {
		c.answer = text
	}
}

// delta is the part of the message that a chat chunk adds.
type delta struct {
	content, refusal, reasoning, reasoningContent []byte
	calls                                         int    // strings with text in tool calls
	call                                          []byte // the last of them
}

func readDelta(r *reader) (d delta) {
	for m := r.object(); m.next(); {
		switch string(m.key()) {
		case "content":
			d.content = r.text()
		case "refusal":
			d.refusal = r.text()
		case "reasoning":
			d.reasoning = r.text()
		case "reasoning_content":
			d.reasoningContent = r.text()
		case "tool_calls":
			d.calls, d.call = readCalls(r)
		}
	}
	return d
}

// readCalls reads a list of tool calls. It returns how many strings with text they have, and the last of them.
func readCalls(r *reader) (texts int, last []byte) {
	for list := r.list(); list.next(); {
		var name, arguments []byte
		for call := r.object(); call.next(); {
			if string(call.key()) != "function" {
				continue
			}
			name, arguments = nil, nil
			for m := r.object(); m.next(); {
				switch string(m.key()) {
				case "name":
					name = r.text()
				case "arguments":
					arguments = r.text()
				}
			}
		}
		for _, text := range [...][]byte{name, arguments} {
			if len(text) > 0 {
				texts, last = texts+1, text
			}
		}
	}
	return texts, last
}

func readUsage(r *reader) Usage {
	u := NoUsage
	for m := r.object(); m.next(); {
		switch string(m.key()) {
		case "prompt_tokens":
			u.Prompt = r.count()
		case "completion_tokens":
			u.Output = r.count()
		case "completion_tokens_details":
			u.Reasoning = readDetail(r, "reasoning_tokens")
		case "prompt_tokens_details":
			u.Cached = readDetail(r, "cached_tokens")
		}
	}
	return u
}

// readDetail reads an object and returns the count under one of its keys.
func readDetail(r *reader, key string) int {
	n := Unknown
	for m := r.object(); m.next(); {
		if string(m.key()) == key {
			n = r.count()
		}
	}
	return n
}

// timings are llama.cpp's, which count tokens too.
type timings struct{ prompt, cached, predicted int }

var noTimings = timings{Unknown, Unknown, Unknown}

func readTimings(r *reader) timings {
	t := noTimings
	for m := r.object(); m.next(); {
		switch string(m.key()) {
		case "prompt_n":
			t.prompt = r.count()
		case "cache_n":
			t.cached = r.count()
		case "predicted_n":
			t.predicted = r.count()
		}
	}
	return t
}

// counts returns the token counts of a chunk. Ollama sends zeros until it knows them: zero prompt tokens together with
// zero output tokens are no count. llama.cpp can be told to leave usage out; its timings have the same counts.
func (f *openAIFields) counts() Usage {
	u := f.usage
	if u.Prompt <= 0 && u.Output <= 0 {
		u = NoUsage
	}
	if u.Output == Unknown && f.timings.predicted > 0 {
		u.Output = f.timings.predicted
	}
	if u.Prompt == Unknown && f.timings.prompt > 0 {
		u.Cached = f.timings.cached
		u.Prompt = f.timings.prompt + max(u.Cached, 0)
	}
	return u
}

// template is the shape of a chunk that has one text and nothing else to say. The chunks of an answer differ only in a
// few bytes of text. So a frame with the same bytes before the text and after it, and with text in between that needs no
// escape, says the same with another text, whatever the server's order of keys.
//
// This is the only JSON that jx does not read. BenchmarkDecode shows the need: on one core of a shared machine a chunk
// costs 40 ns by template and 800 ns by jx, where everything else that this client does for an event costs about 270 ns.
type template struct {
	head, tail []byte
	chunk      Chunk
	answer     bool // the text is the answer's, not reasoning or a tool call
}

// learn takes the shape of a frame whose only text is the given part of it.
func (t *template) learn(frame, text []byte, c *Chunk) {
	start := cap(frame) - cap(text) // both end with the same array
	t.head = append(t.head[:0], frame[:start]...)
	t.tail = append(t.tail[:0], frame[start+len(text):]...)
	t.chunk, t.answer = *c, c.Raw != nil
	t.chunk.Raw = nil
}

// fits reads a frame of the learned shape into c. It returns false for any other frame.
func (t *template) fits(frame []byte, c *Chunk) bool {
	if len(t.head) == 0 || len(frame) <= len(t.head)+len(t.tail) ||
		!bytes.HasPrefix(frame, t.head) || !bytes.HasSuffix(frame, t.tail) {
		return false
	}
	text := frame[len(t.head) : len(frame)-len(t.tail)]
	for _, b := range text {
		if b < ' ' || b == '"' || b == '\\' {
			return false
		}
	}
	*c = t.chunk
	if t.answer {
		c.Raw = text
	}
	return true
}
