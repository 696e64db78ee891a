package api

import "strconv"

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

func (d openAI) Path() string {
	if d.chat {
		return "/v1/chat/completions"
	}
	return "/v1/completions"
}

func (openAI) NewDecoder() Decoder { return &openAIDecoder{} }

func (d openAI) Traits() Traits {
	return Traits{Auto: true, Common: true, Model: true, Thinks: d.chat, Seeds: true, Fields: AllFields,
		OnDemand: Fields{ContinuousUsage: true, ReasoningEffort: d.chat}}
}

func (d openAI) Encode(r *Request, p *Params) ([]byte, error) {
	e := newEncoder(p)
	e.Text("model", p.Model)
	if d.chat {
		e.Messages("messages", r.Messages)
	} else {
		e.Text("prompt", r.Prompt())
	}
	e.Flag("stream", true)
	e.Length(r.OutputTokens, p.Fields)
	switch {
	case p.Fields.StreamUsage && p.Fields.ContinuousUsage:
		e.Literal("stream_options", `{"include_usage":true,"continuous_usage_stats":true}`)
	case p.Fields.StreamUsage:
		e.Literal("stream_options", `{"include_usage":true}`)
	}
	e.Temperature(p.Temperature)
	if d.chat {
		think(e, p)
	}
	return e.Finish()
}

// think writes the field that turns thinking on or off: chat_template_kwargs of vLLM, SGLang, lmdeploy and llama.cpp,
// or reasoning_effort of OpenAI and Ollama.
func think(e *encoder, p *Params) {
	switch {
	case p.Think == nil || p.Fields.NoThinking:
	case !p.Fields.ReasoningEffort:
		e.Literal("chat_template_kwargs", `{"enable_thinking":`+strconv.FormatBool(*p.Think)+`}`)
	case *p.Think:
		e.Text("reasoning_effort", "medium")
	default:
		e.Text("reasoning_effort", "none")
	}
}

// openAIDecoder reads the chunks of chat and of plain completions. Servers differ only in which keys they leave out and
// how they order them.
type openAIDecoder struct {
	template template
	reader   fieldReader

	finished      bool // a finish reason was seen
	done          bool // the terminator was seen
	textSeen      bool
	countsSeen    bool
	runningCounts bool // counts have come with the text since its first chunk
	lastCount     int  // tokens up to the last text
}

func (d *openAIDecoder) Reset() {
	d.template.Reset()
	*d = openAIDecoder{reader: d.reader, template: d.template}
}

// Complete wants counts besides the terminator where there is no finish reason: some servers give none, but the
// terminator alone may follow a failure.
func (d *openAIDecoder) Complete() bool { return d.finished || d.done && d.countsSeen }

func (d *openAIDecoder) Decode(frame []byte, c *Chunk) error {
	if d.template.Fits(frame, c) {
		return nil
	}
	if isDone(frame) {
		*c = Chunk{Usage: noUsage, Done: true}
		d.done = true
		return nil
	}
	f := openAIFields{usage: noUsage, timings: noTimings}
	for m := d.reader.Open(frame, c); m.Next(); {
		switch string(m.Key()) {
		case "choices":
			f.choice = readChoices(&d.reader)
		case "usage":
			f.usage = readUsage(&d.reader)
		case "timings":
			f.timings = readTimings(&d.reader)
		}
	}
	if done, err := d.reader.Close(c); done {
		return err
	}
	if f.finish == "error" || f.finish == "abort" {
		c.Error = "the server ended the answer with the finish reason " + f.finish
		return nil
	}
	d.fill(frame, &f, c)
	return nil
}

func (d *openAIDecoder) fill(frame []byte, f *openAIFields, c *Chunk) {
	c.Text = f.texts > 0
	c.Reasoning = c.Text && f.texts == f.reasonings
	c.Raw = f.answer
	if f.finish != "" {
		c.Finish, d.finished = f.finish, true
	}
	c.Usage = f.counts()
	d.count(c)
	if f.texts == 1 && f.finish == "" && c.Usage == noUsage {
		d.template.Learn(frame, f.last, c)
	}
}

// count finds the tokens of a chunk by its usage. Counts that come with the text from its first chunk on are running
// counts; a single late one is the sum.
func (d *openAIDecoder) count(c *Chunk) {
	known := c.Usage.Output != Unknown
	d.countsSeen = d.countsSeen || known
	if !c.Text {
		return
	}
	if !d.textSeen {
		d.textSeen, d.runningCounts = true, known && c.Usage.Output > 0
	}
	if d.runningCounts && known {
		c.Tokens = max(c.Usage.Output-d.lastCount, 0)
		d.lastCount = c.Usage.Output
	}
}

type openAIFields struct {
	choice
	usage   Usage
	timings timings
}

type choice struct {
	texts      int    // strings that are not empty
	reasonings int    // those that are reasoning
	last       []byte // the last of them
	answer     []byte // the first that is content, text or refusal
	finish     string
}

// readChoices returns the first choice: no more are asked for.
func readChoices(r *fieldReader) (first choice) {
	list := r.List()
	for n := 0; list.Next(); n++ {
		if n == 0 {
			first = readChoice(r)
		}
	}
	return first
}

func readChoice(r *fieldReader) choice {
	var text []byte
	var d delta
	finish := ""
	for m := r.Object(); m.Next(); {
		switch string(m.Key()) {
		case "text":
			text = r.Text()
		case "delta":
			d = readDelta(r)
		case "finish_reason":
			finish = finishReason(r.Text())
		}
	}
	c := choice{finish: finish}
	c.add(text, true)
	c.add(d.content, true)
	c.add(d.refusal, true)
	before := c.texts
	c.add(d.reasoning, false)
	c.add(d.reasoningContent, false)
	c.reasonings = c.texts - before
	c.texts += d.calls
	if d.calls > 0 {
		c.last = d.call
	}
	return c
}

func (c *choice) add(text []byte, answer bool) {
	if len(text) == 0 {
		return
	}
	c.texts++
	c.last = text
	if answer && c.answer == nil {
		c.answer = text
	}
}

type delta struct {
	content, refusal, reasoning, reasoningContent []byte
	calls                                         int    // strings that are not empty in tool calls
	call                                          []byte // the last of them
}

func readDelta(r *fieldReader) (d delta) {
	for m := r.Object(); m.Next(); {
		switch string(m.Key()) {
		case "content":
			d.content = r.Text()
		case "refusal":
			d.refusal = r.Text()
		case "reasoning":
			d.reasoning = r.Text()
		case "reasoning_content":
			d.reasoningContent = r.Text()
		case "tool_calls":
			d.calls, d.call = readCalls(r)
		}
	}
	return d
}

// readCalls returns how many strings of a list of tool calls are not empty, and the last of them.
func readCalls(r *fieldReader) (texts int, last []byte) {
	for list := r.List(); list.Next(); {
		var name, arguments []byte
		for call := r.Object(); call.Next(); {
			if string(call.Key()) != "function" {
				continue
			}
			name, arguments = nil, nil
			for m := r.Object(); m.Next(); {
				switch string(m.Key()) {
				case "name":
					name = r.Text()
				case "arguments":
					arguments = r.Text()
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

func readUsage(r *fieldReader) Usage {
	u := noUsage
	for m := r.Object(); m.Next(); {
		switch string(m.Key()) {
		case "prompt_tokens":
			u.Prompt = r.Count()
		case "completion_tokens":
			u.Output = r.Count()
		case "completion_tokens_details":
			u.Reasoning = readDetail(r, "reasoning_tokens")
		case "prompt_tokens_details":
			u.Cached = readDetail(r, "cached_tokens")
		}
	}
	return u
}

// timings are llama.cpp's, which count tokens too.
type timings struct{ prompt, cached, predicted int }

var noTimings = timings{Unknown, Unknown, Unknown}

func readTimings(r *fieldReader) timings {
	t := noTimings
	for m := r.Object(); m.Next(); {
		switch string(m.Key()) {
		case "prompt_n":
			t.prompt = r.Count()
		case "cache_n":
			t.cached = r.Count()
		case "predicted_n":
			t.predicted = r.Count()
		}
	}
	return t
}

// counts returns the token counts of a chunk. Ollama sends zeros until it knows them: zero prompt tokens together with
// zero output tokens are no count. llama.cpp's timings have the same counts as usage, which it can leave out.
func (f *openAIFields) counts() Usage {
	u := f.usage
	if u.Prompt <= 0 && u.Output <= 0 {
		u = noUsage
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
