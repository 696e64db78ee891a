package api

import "bytes"

// sglang is SGLang's own /generate. It follows sgl-project/sglang, python/sglang/srt/entrypoints/http_server.py
// (generate_request) and managers/tokenizer_manager.py and io_struct.py (GenerateReqInput), as of 0.5; not checked
// against a running engine.
//
// The length belongs inside sampling_params. At the top level the server ignores it without an error and sends 128
// tokens.
type sglang struct{}

var _ Dialect = sglang{}

func (sglang) Name() string        { return "sglang" }
func (sglang) Path(string) string  { return "/generate" }
func (sglang) Framing() Framing    { return SSE }
func (sglang) NewDecoder() Decoder { return &generateDecoder{} }
func (sglang) Traits() Traits {
	return Traits{Forces: true, Counts: true, Fields: Fields{IgnoreEOS: true}}
}

// Encode returns the body. There is no chat template: the messages' contents are the text.
func (sglang) Encode(r *Request, p *Params) ([]byte, error) {
	e := newEncoder(p)
	e.text("text", r.Prompt())
	e.object("sampling_params", func(e *encoder) {
		e.count("max_new_tokens", r.OutputTokens)
		if p.Fields.IgnoreEOS && r.OutputTokens > 0 {
			e.flag("ignore_eos", true)
		}
		e.temperature(p.Temperature)
	})
	e.flag("stream", true)
	return e.finish()
}

// generateDecoder reads SGLang's and lmdeploy's /generate, whose chunks look alike:
//
//	{"text":"..","output_ids":[..],"meta_info":{"prompt_tokens":9,"completion_tokens":2,"cached_tokens":0,"finish_reason":null}}
//
// SGLang's texts and ids are cumulative, unless it was started with --incremental-streaming-output (before:
// --stream-output); lmdeploy's are pieces. A chunk has tokens when the count has grown or, with lmdeploy, when it has
// ids, whether or not the detokenizer has released their text.
type generateDecoder struct {
	pieces bool // ids are pieces, and tell how many tokens came: lmdeploy

	reader reader
	texts  texts
	tokens runningCount
	ids    int // ids so far
	finish bool
	done   bool
	token  bool // a token came
}

func (d *generateDecoder) Reset() {
	d.texts.reset()
	*d = generateDecoder{pieces: d.pieces, reader: d.reader, texts: d.texts}
}

// Complete reports whether the stream may end: after the finish reason, or after the terminator where there was a token.
func (d *generateDecoder) Complete() bool { return d.finish || d.done && d.token }

// generateFields are the parts of a chunk that are used.
type generateFields struct {
	text  []byte
	ids   int  // how many
	list  bool // ids are there
	about meta
}

// meta are the parts of meta_info that are used.
type meta struct {
	usage           Usage
	finish, message []byte // the kind of finish, and a message with it
}

// Decode reads one chunk, or the terminator.
func (d *generateDecoder) Decode(frame []byte, c *Chunk) error {
	if isDone(frame) {
		*c = Chunk{Usage: NoUsage, Done: true}
		d.done = true
		return nil
	}
	f := generateFields{about: meta{usage: NoUsage}}
	for m := d.reader.open(frame, c); m.next(); {
		switch string(m.key()) {
		case "text":
			f.text = d.reader.text()
		case "output_ids":
			f.ids, f.list = d.reader.length()
		case "meta_info":
			f.about = readMeta(&d.reader)
		}
	}
	if done, err := d.reader.close(c); done {
		return err
	}
	d.count(c, &f)
	if fresh := d.texts.news(f.text); len(fresh) > 0 {
		c.Raw = fresh
		c.Text = c.Text || f.about.usage.Output == Unknown && !f.list
	}
	d.token = d.token || c.Text
	d.end(c, &f.about)
	return nil
}

func readMeta(r *reader) meta {
	a := meta{usage: NoUsage}
	for m := r.object(); m.next(); {
		switch string(m.key()) {
		case "prompt_tokens":
			a.usage.Prompt = r.count()
		case "completion_tokens":
			a.usage.Output = r.count()
		case "cached_tokens":
			a.usage.Cached = r.count()
		case "reasoning_tokens":
			a.usage.Reasoning = r.count()
		case "finish_reason":
			a.finish, a.message = readFinish(r)
		}
	}
	return a
}

// readFinish reads a finish reason: null, {"type":"length","length":4}, {"type":"abort","message":".."} or, before
// SGLang 0.3, a string.
func readFinish(r *reader) (kind, message []byte) {
	object := r.object()
	if object.r == nil {
		return r.text(), nil
	}
	for object.next() {
		switch string(object.key()) {
		case "type":
			kind = r.text()
		case "message":
			message = r.text()
		}
	}
	return kind, message
}

// count works out how many tokens a chunk brought.
func (d *generateDecoder) count(c *Chunk, f *generateFields) {
	c.Usage = f.about.usage
	total := c.Usage.Output
	d.texts.pieces = d.texts.pieces || d.pieces
	switch {
	case d.pieces && f.list:
		d.ids += f.ids
		c.Tokens, c.IDs = f.ids, d.ids
		if total != Unknown {
			c.Tokens = min(f.ids, d.tokens.grow(total)) // SGLang's ids, which are cumulative, must not count twice
		}
	case total != Unknown:
		d.texts.pieces = d.texts.pieces || f.list && f.ids < total
		c.Tokens = d.tokens.grow(total)
	case f.list: // taken as cumulative; if they are pieces the count comes out too low
		c.Tokens, c.IDs = d.tokens.grow(f.ids), f.ids
	}
	c.Text = c.Tokens > 0
}

// end takes in the finish reason.
func (d *generateDecoder) end(c *Chunk, a *meta) {
	switch kind := string(a.finish); kind {
	case "":
	case "abort", "error":
		c.Error = "the server ended the answer with the finish reason " + kind
		if len(a.message) > 0 {
			c.Error += ": " + string(Unescape(bytes.Clone(a.message)))
		}
	default:
		c.Finish, d.finish = finishReason(a.finish), true
	}
}
