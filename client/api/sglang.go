package api

import "bytes"

// sglangAPI is SGLang's own /generate. It follows sgl-project/sglang, python/sglang/srt/entrypoints/http_server.py
// (generate_request) and managers/tokenizer_manager.py and io_struct.py (GenerateReqInput), as of 0.5, and a captured
// answer of 0.5.23.
//
// The length belongs inside sampling_params. At the top level the server ignores it without an error and sends 128
// tokens.
type sglangAPI struct{}

var _ Dialect = sglangAPI{}

func (sglangAPI) Name() string        { return "sglang" }
func (sglangAPI) Path() string        { return "/generate" }
func (sglangAPI) NewDecoder() Decoder { return &sglangDecoder{} }
func (sglangAPI) Traits() Traits      { return Traits{Fields: Fields{IgnoreEOS: true}} }

// Encode sends the messages' contents as the text: there is no chat template.
func (sglangAPI) Encode(r *Request, p *Params) ([]byte, error) {
	e := newEncoder(p)
	e.Text("text", r.Prompt())
	e.Object("sampling_params", func(e *encoder) {
		e.Count("max_new_tokens", r.OutputTokens)
		if p.Fields.IgnoreEOS && r.OutputTokens > 0 {
			e.Flag("ignore_eos", true)
		}
		e.Temperature(p.Temperature)
	})
	e.Flag("stream", true)
	return e.Finish()
}

// sglangDecoder reads chunks such as
//
//	{"text":"..","output_ids":[..],"meta_info":{"prompt_tokens":9,"completion_tokens":2,"cached_tokens":0,"finish_reason":null}}
//
// Texts and ids are cumulative, unless the server was started with --incremental-streaming-output (before:
// --stream-output). A chunk has tokens when the count has grown, whether or not the detokenizer has released their
// text.
type sglangDecoder struct {
	reader     fieldReader
	cumulative cumulativeText
	lastCount  int // tokens so far
	finished   bool
	done       bool
	tokenSeen  bool
}

func (d *sglangDecoder) Reset() {
	d.cumulative.Reset()
	*d = sglangDecoder{reader: d.reader, cumulative: d.cumulative}
}

func (d *sglangDecoder) Complete() bool { return d.finished || d.done && d.tokenSeen }

type sglangFields struct {
	text   []byte
	ids    int // how many
	hasIDs bool
	meta   meta
}

type meta struct {
	usage           Usage
	finish, message []byte // the kind of finish, and a message with it
}

func (d *sglangDecoder) Decode(frame []byte, c *Chunk) error {
	if isDone(frame) {
		*c = Chunk{Usage: noUsage, Done: true}
		d.done = true
		return nil
	}
	f := sglangFields{meta: meta{usage: noUsage}}
	for m := d.reader.Open(frame, c); m.Next(); {
		switch string(m.Key()) {
		case "text":
			f.text = d.reader.Text()
		case "output_ids":
			f.ids, f.hasIDs = d.reader.Length()
		case "meta_info":
			f.meta = readMeta(&d.reader)
		}
	}
	if done, err := d.reader.Close(c); done {
		return err
	}
	d.count(c, &f)
	if fresh := d.cumulative.NewPart(f.text); len(fresh) > 0 {
		c.Raw = fresh
		c.Text = c.Text || f.meta.usage.Output == Unknown
	}
	d.tokenSeen = d.tokenSeen || c.Text
	d.end(c, &f.meta)
	return nil
}

func readMeta(r *fieldReader) meta {
	a := meta{usage: noUsage}
	for m := r.Object(); m.Next(); {
		switch string(m.Key()) {
		case "prompt_tokens":
			a.usage.Prompt = r.Count()
		case "completion_tokens":
			a.usage.Output = r.Count()
		case "cached_tokens":
			a.usage.Cached = r.Count()
		case "reasoning_tokens":
			a.usage.Reasoning = r.Count()
		case "finish_reason":
			a.finish, a.message = readFinish(r)
		}
	}
	return a
}

// readFinish reads a finish reason: null, {"type":"length","length":4}, {"type":"abort","message":".."} or, before
// SGLang 0.3, a string.
func readFinish(r *fieldReader) (kind, message []byte) {
	object := r.Object()
	if object.NotObject() {
		return r.Text(), nil
	}
	for object.Next() {
		switch string(object.Key()) {
		case "type":
			kind = r.Text()
		case "message":
			message = r.Text()
		}
	}
	return kind, message
}

func (d *sglangDecoder) count(c *Chunk, f *sglangFields) {
	c.Usage = f.meta.usage
	total := c.Usage.Output
	if total == Unknown {
		return
	}
	d.cumulative.Incremental = d.cumulative.Incremental || f.hasIDs && f.ids < total
	c.Tokens = max(total-d.lastCount, 0)
	d.lastCount += c.Tokens
	c.Text = c.Tokens > 0
}

func (d *sglangDecoder) end(c *Chunk, a *meta) {
	switch kind := string(a.finish); kind {
	case "":
	case "abort", "error":
		c.Error = "the server ended the answer with the finish reason " + kind
		if len(a.message) > 0 {
			c.Error += ": " + string(Unescape(bytes.Clone(a.message)))
		}
	default:
		c.Finish, d.finished = finishReason(a.finish), true
	}
}

// cumulativeText finds what is new in a stream's texts. Each text may repeat all texts before it (cumulative), or be a
// piece (incremental). Servers do not say which, so the texts decide: a text that does not begin with the whole of the
// one before it is a piece, and so is the second of two equal ones at the start.
type cumulativeText struct {
	soFar       []byte // while texts may be cumulative
	hasGrown    bool   // a text repeated the one before it and continued it
	Incremental bool
}

func (t *cumulativeText) Reset() { *t = cumulativeText{soFar: t.soFar[:0]} }

// NewPart returns the part of a text that was not there before.
func (t *cumulativeText) NewPart(raw []byte) []byte {
	if t.Incremental || len(raw) == 0 {
		return raw
	}
	repeated := len(t.soFar) > 0 && len(raw) == len(t.soFar) && !t.hasGrown
	if repeated || !bytes.HasPrefix(raw, t.soFar) {
		t.Incremental = true
		return raw
	}
	fresh := raw[len(t.soFar):]
	t.hasGrown = t.hasGrown || len(t.soFar) > 0 && len(fresh) > 0
	t.soFar = append(t.soFar, fresh...)
	return fresh
}
