package api

import (
	"bytes"
	"strconv"

	"github.com/tidwall/gjson"
)

// sglang is SGLang's own /generate. It follows sgl-project/sglang, python/sglang/srt/entrypoints/http_server.py
// (generate_request) and managers/tokenizer_manager.py and io_struct.py (GenerateReqInput), as of 0.5; not seen on a
// running engine.
//
// The length belongs inside sampling_params: at the top level it is ignored without a word, and 128 tokens come.
type sglang struct{}

var _ Dialect = sglang{}

func (sglang) Name() string        { return "sglang" }
func (sglang) Path(string) string  { return "/generate" }
func (sglang) Framing() Framing    { return SSE }
func (sglang) NewDecoder() Decoder { return &generateDecoder{} }
func (sglang) Traits() Traits {
	return Traits{Forces: true, Counts: true, Fields: Fields{IgnoreEOS: true}}
}

// Encode appends the body. There is no chat template: the messages' contents are the text.
func (sglang) Encode(dst []byte, r *Request, p *Params) ([]byte, error) {
	e := encoder{dst: append(dst, '{'), extra: gjson.ParseBytes(p.Extra)}
	e.text("text", r.Prompt())
	e.object("sampling_params", func(e *encoder) {
		e.number("max_new_tokens", r.OutputTokens)
		if p.Fields.IgnoreEOS && r.OutputTokens > 0 {
			e.literal("ignore_eos", "true")
		}
		e.temperature(p.Temperature)
	})
	e.literal("stream", "true")
	e.extras()
	return append(e.dst, '}'), nil
}

// lmdeploy is lmdeploy's own /generate. It follows InternLM/lmdeploy, lmdeploy/serve/openai/endpoints/generate.py and
// protocol.py (GenerateReqInput: max_tokens = 128, at the top level), as of 0.10; not seen on a running engine.
type lmdeploy struct{}

var _ Dialect = lmdeploy{}

func (lmdeploy) Name() string        { return "lmdeploy" }
func (lmdeploy) Path(string) string  { return "/generate" }
func (lmdeploy) Framing() Framing    { return SSE }
func (lmdeploy) NewDecoder() Decoder { return &generateDecoder{ids: true} }
func (lmdeploy) Traits() Traits {
	return Traits{Forces: true, Counts: true, Fields: Fields{IgnoreEOS: true}}
}

// Encode appends the body. There is no chat template: the messages' contents are the prompt.
func (lmdeploy) Encode(dst []byte, r *Request, p *Params) ([]byte, error) {
	return encodePrompt(dst, r, p, "max_tokens"), nil
}

// encodePrompt appends the flat body that lmdeploy's and llama.cpp's own APIs take, which name the length differently.
func encodePrompt(dst []byte, r *Request, p *Params, length string) []byte {
	e := encoder{dst: append(dst, '{'), extra: gjson.ParseBytes(p.Extra)}
	e.text("prompt", r.Prompt())
	e.number(length, r.OutputTokens)
	if p.Fields.IgnoreEOS && r.OutputTokens > 0 {
		e.literal("ignore_eos", "true")
	}
	e.temperature(p.Temperature)
	e.literal("stream", "true")
	e.extras()
	return append(e.dst, '}')
}

// generateDecoder reads both kinds of /generate, which look alike:
//
//	{"text":"..","output_ids":[..],"meta_info":{"prompt_tokens":9,"completion_tokens":2,"cached_tokens":0,"finish_reason":null}}
//
// SGLang's texts and ids are cumulative, unless it was started with --incremental-streaming-output (before:
// --stream-output); lmdeploy's are pieces. A chunk bears tokens when the count has grown or, with lmdeploy, when it has
// ids, whether or not their text has come out of the detokenizer yet.
type generateDecoder struct {
	ids bool // ids are pieces, and tell how many tokens came: lmdeploy

	texts  texts
	tokens tally
	gotten int // ids so far
	finish bool
	done   bool
	token  bool // a token came
}

func (d *generateDecoder) Reset() {
	d.texts.reset()
	*d = generateDecoder{ids: d.ids, texts: d.texts}
}

// Complete reports whether the stream may end: the finish reason was seen, or the terminator after a token.
func (d *generateDecoder) Complete() bool { return d.finish || d.done && d.token }

// meta are the parts of meta_info that matter.
type meta struct {
	prompt, output, cached, reasoning int
	finish                            value
}

// Decode reads one chunk, or the terminator.
func (d *generateDecoder) Decode(frame []byte, c *Chunk) error {
	*c = Chunk{Usage: NoUsage}
	if string(bytes.TrimSpace(frame)) == "[DONE]" {
		c.Done, d.done = true, true
		return nil
	}
	o, err := openObject(frame)
	if err != nil {
		return err
	}
	var text, ids, info, fault, kind value
	for o.next() {
		switch string(o.key) {
		case "text":
			text = o.value
		case "output_ids":
			ids = o.value
		case "meta_info":
			info = o.value
		case "error":
			fault = o.value
		case "object":
			kind = o.value
		}
	}
	if failed(fault, kind) {
		c.Error = ErrorText(frame)
		return nil
	}
	m := parseMeta(info)
	d.count(c, ids, &m)
	if fresh := d.texts.news(text.text()); len(fresh) > 0 {
		c.Raw = fresh
		c.Text = c.Text || m.output == Unknown && !ids.isList()
	}
	d.token = d.token || c.Text
	d.end(c, m.finish)
	return nil
}

// parseMeta reads meta_info.
func parseMeta(v value) meta {
	m := meta{prompt: Unknown, output: Unknown, cached: Unknown, reasoning: Unknown}
	for o := v.object(); o.next(); {
		switch string(o.key) {
		case "prompt_tokens":
			m.prompt = o.value.number()
		case "completion_tokens":
			m.output = o.value.number()
		case "cached_tokens":
			m.cached = o.value.number()
		case "reasoning_tokens":
			m.reasoning = o.value.number()
		case "finish_reason":
			m.finish = o.value
		}
	}
	return m
}

// count notes how many tokens a chunk brought.
func (d *generateDecoder) count(c *Chunk, ids value, m *meta) {
	c.Usage = Usage{Prompt: m.prompt, Output: m.output, Reasoning: m.reasoning, Cached: m.cached}
	n := ids.length()
	d.texts.pieces = d.texts.pieces || d.ids
	switch {
	case d.ids && ids.isList():
		d.gotten += n
		c.Tokens, c.IDs = n, d.gotten
		if m.output != Unknown {
			c.Tokens = min(n, d.tokens.grow(m.output)) // SGLang's ids, which are cumulative, must not count twice
		}
	case m.output != Unknown:
		d.texts.pieces = d.texts.pieces || ids.isList() && n < m.output
		c.Tokens = d.tokens.grow(m.output)
	case ids.isList(): // cumulative, or else the count would only come out too low
		c.Tokens, c.IDs = d.tokens.grow(n), n
	}
	c.Text = c.Tokens > 0
}

// end reads a finish reason: null, {"type":"length","length":4}, {"type":"abort","message":".."} or, before 0.3, a
// string.
func (d *generateDecoder) end(c *Chunk, finish value) {
	kind, message := finish, value(nil)
	for o := finish.object(); o.next(); {
		switch string(o.key) {
		case "type":
			kind = o.value
		case "message":
			message = o.value
		}
	}
	switch t := kind.text(); {
	case len(t) == 0:
	case string(t) == "abort" || string(t) == "error":
		c.Error = "the server ended the answer with the finish reason " + string(t)
		if m := message.text(); len(m) > 0 {
			c.Error += ": " + string(Unescape(bytes.Clone(m)))
		}
	default:
		c.Finish, d.finish = finishOf(t), true
	}
}

// text writes a field that is a string.
func (e *encoder) text(name, s string) {
	if e.field(name) {
		e.dst = appendString(e.dst, s)
	}
}

// number writes a field that is a count, if there is one.
func (e *encoder) number(name string, n int) {
	if n > 0 {
		e.literal(name, strconv.Itoa(n))
	}
}

func (e *encoder) temperature(t *float64) {
	if t != nil && e.field("temperature") {
		e.dst = strconv.AppendFloat(e.dst, *t, 'g', -1, 64)
	}
}

// object writes a field that is an object. Where the user's object has one of that name too, the two are merged, the
// user's keys winning: replacing ours whole would lose the length, and a server's default would take its place.
func (e *encoder) object(name string, write func(*encoder)) {
	theirs := e.extra.Get(name)
	if theirs.Exists() && !theirs.IsObject() {
		return
	}
	e.key(name)
	inner := encoder{dst: append(e.dst, '{'), extra: theirs}
	write(&inner)
	inner.extras()
	e.dst = append(inner.dst, '}')
	e.merged = name
}
