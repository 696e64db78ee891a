package api

// llamacpp is llama-server's own /completion. It follows ggml-org/llama.cpp, tools/server/README.md ("POST
// /completion") and what llama-server b11669 was seen to send.
type llamacpp struct{}

var _ Dialect = llamacpp{}

func (llamacpp) Name() string        { return "llamacpp" }
func (llamacpp) Path(string) string  { return "/completion" }
func (llamacpp) Framing() Framing    { return SSE }
func (llamacpp) NewDecoder() Decoder { return &llamacppDecoder{} }
func (llamacpp) Traits() Traits {
	return Traits{Forces: true, Counts: true, Fields: Fields{IgnoreEOS: true}}
}

// Encode appends the body. There is no chat template: the messages' contents are the prompt.
func (llamacpp) Encode(dst []byte, r *Request, p *Params) ([]byte, error) {
	return encodePrompt(dst, r, p, "n_predict"), nil
}

// llamacppDecoder reads chunks such as
//
//	{"index":0,"content":" a","tokens":[565],"stop":false,"tokens_predicted":1,"tokens_evaluated":13}
//
// of which the last has "stop":true and no text, and is the terminator. tokens_predicted is a running count: what a
// character held back, its tokens come with the chunk that shows it.
type llamacppDecoder struct {
	tokens tally
	gotten int // ids so far
	done   bool
}

func (d *llamacppDecoder) Reset() { *d = llamacppDecoder{} }

// Complete reports whether the stream may end: after "stop":true.
func (d *llamacppDecoder) Complete() bool { return d.done }

// llamacppFields are the parts of a chunk that matter.
type llamacppFields struct {
	content, ids, stop, stopType, predicted, evaluated, timings, fault, kind value
	limit, ended, word                                                       bool // before stop_type (2024)
}

// Decode reads one chunk.
func (d *llamacppDecoder) Decode(frame []byte, c *Chunk) error {
	*c = Chunk{Usage: NoUsage}
	o, err := openObject(frame)
	if err != nil {
		return err
	}
	var f llamacppFields
	for o.next() {
		f.take(o.key, o.value)
	}
	if failed(f.fault, f.kind) {
		c.Error = ErrorText(frame)
		return nil
	}
	d.count(c, &f)
	if raw := f.content.text(); len(raw) > 0 {
		c.Text, c.Raw = true, raw
	}
	if f.stop.isTrue() {
		c.Done, d.done = true, true
		c.Finish = f.finish()
	}
	return nil
}

func (f *llamacppFields) take(key []byte, v value) {
	switch string(key) {
	case "content":
		f.content = v
	case "tokens":
		f.ids = v
	case "stop":
		f.stop = v
	case "stop_type":
		f.stopType = v
	case "tokens_predicted":
		f.predicted = v
	case "tokens_evaluated":
		f.evaluated = v
	case "timings":
		f.timings = v
	case "error":
		f.fault = v
	case "object":
		f.kind = v
	case "stopped_limit":
		f.limit = v.isTrue()
	case "stopped_eos":
		f.ended = v.isTrue()
	case "stopped_word":
		f.word = v.isTrue()
	}
}

// count notes what a chunk tells of tokens.
func (d *llamacppDecoder) count(c *Chunk, f *llamacppFields) {
	c.Usage.Output, c.Usage.Prompt = f.predicted.number(), f.evaluated.number()
	if c.Usage.Prompt == 0 {
		c.Usage.Prompt = Unknown // not evaluated yet
	}
	for o := f.timings.object(); o.next(); {
		if string(o.key) == "cache_n" {
			c.Usage.Cached = o.value.number()
		}
	}
	d.gotten += f.ids.length()
	c.IDs = d.gotten
	if len(f.content.text()) == 0 {
		return
	}
	switch {
	case c.Usage.Output != Unknown:
		c.Tokens = d.tokens.grow(c.Usage.Output)
	case d.gotten > 0:
		c.Tokens = d.tokens.grow(d.gotten)
	}
}

// finish is the finish reason in the words of the other APIs, as llama-server's own /v1 has it.
func (f *llamacppFields) finish() string {
	switch string(f.stopType.text()) {
	case "limit":
		return "length"
	case "eos", "word":
		return "stop"
	}
	switch {
	case f.limit:
		return "length"
	case f.ended || f.word:
		return "stop"
	}
	return finishOf(f.stopType.text())
}
