package api

import (
	"bytes"
	"strconv"
)

// sglangAPI is sgLang's own /generate. It follows sgl-project/sglang, python/sglang/srt/entrypoints/http_server.py
// (generate_request) and managers/tokenizer_manager.py and io_struct.py (GenerateReqInput), as of 0.5, and a captured
// answer of 0.5.23.
//
// The length belongs inside sampling_params. At the top level the server ignores it without an error and sends 128
// tokens.
type sglangAPI struct{}

var _ Dialect = sglangAPI{}

func (sglangAPI) Name() string        { return "sglang" }
func (sglangAPI) Path(string) string  { return "/generate" }
func (sglangAPI) Framing() Framing    { return SSE }
func (sglangAPI) NewDecoder() Decoder { return &generateDecoder{} }
func (sglangAPI) Traits() Traits {
	return Traits{
		Forces: true, Counts: true, Fields: Fields{IgnoreEOS: true},
		LogProbs: `{"return_logprob":true,"return_text_in_logprobs":true,"top_logprobs_num":` + strconv.Itoa(TopTokens) + `}`,
	}
}

// Encode returns the body. There is no chat template: the messages' contents are the text.
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

// generateDecoder reads sgLang's and lmdeploy's /generate, whose chunks look alike:
//
//	{"text":"..","output_ids":[..],"meta_info":{"prompt_tokens":9,"completion_tokens":2,"cached_tokens":0,"finish_reason":null}}
//
// sgLang's texts and ids are cumulative, unless it was started with --incremental-streaming-output (before:
// --stream-output); lmdeploy's are pieces. A chunk has tokens when the count has grown or, with lmdeploy, when it has
// ids, whether or not the detokenizer has released their text.
type generateDecoder struct {
	pieces bool // ids are pieces, and tell how many tokens came: lmdeploy

	reader fieldReader
	texts  texts
	tokens runningCount
	ids    int // ids so far
	finish bool
	done   bool
	token  bool // a token came
	logs   []byte
}

func (d *generateDecoder) Reset() {
	d.texts.Reset()
	*d = generateDecoder{pieces: d.pieces, reader: d.reader, texts: d.texts, logs: d.logs[:0]}
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
	logs, tops      []byte // log-probabilities: of the tokens, and of the most likely ones
}

// Decode reads one chunk, or the terminator.
func (d *generateDecoder) Decode(frame []byte, c *Chunk) error {
	if isDone(frame) {
		*c = Chunk{Usage: noUsage, Done: true}
		d.done = true
		return nil
	}
	f := generateFields{about: meta{usage: noUsage}}
	for m := d.reader.Open(frame, c); m.Next(); {
		switch string(m.Key()) {
		case "text":
			f.text = d.reader.Text()
		case "output_ids":
			f.ids, f.list = d.reader.Length()
		case "meta_info":
			f.about = readMeta(&d.reader)
		}
	}
	if done, err := d.reader.Close(c); done {
		return err
	}
	d.count(c, &f)
	if f.about.logs != nil {
		c.LogProbs = d.logProbs(&f.about)
	}
	if fresh := d.texts.News(f.text); len(fresh) > 0 {
		c.Raw = fresh
		c.Text = c.Text || f.about.usage.Output == Unknown && !f.list
	}
	d.token = d.token || c.Text
	d.end(c, &f.about)
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
		case "output_token_logprobs":
			a.logs = filled(r.Value())
		case "output_top_logprobs":
			a.tops = filled(r.Value())
		}
	}
	return a
}

// readFinish reads a finish reason: null, {"type":"length","length":4}, {"type":"abort","message":".."} or, before
// sgLang 0.3, a string.
func readFinish(r *fieldReader) (kind, message []byte) {
	object := r.Object()
	if object.None() {
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

// count works out how many tokens a chunk brought.
func (d *generateDecoder) count(c *Chunk, f *generateFields) {
	c.Usage = f.about.usage
	total := c.Usage.Output
	d.texts.Pieces = d.texts.Pieces || d.pieces
	switch {
	case d.pieces && f.list:
		d.ids += f.ids
		c.Tokens, c.IDs = f.ids, d.ids
		if total != Unknown {
			c.Tokens = min(f.ids, d.tokens.Grow(total)) // sgLang's ids, which are cumulative, must not count twice
		}
	case total != Unknown:
		d.texts.Pieces = d.texts.Pieces || f.list && f.ids < total
		c.Tokens = d.tokens.Grow(total)
	case f.list: // taken as cumulative; if they are pieces the count comes out too low
		c.Tokens, c.IDs = d.tokens.Grow(f.ids), f.ids
	}
	c.Text = c.Tokens > 0
}

// logProbs returns the two lists of log-probabilities and the count of tokens so far as one object, with the
// names that meta_info has for them.
func (d *generateDecoder) logProbs(a *meta) []byte {
	b := append(d.logs[:0], `{"output_token_logprobs":`...)
	b = append(b, a.logs...)
	if a.tops != nil {
		b = append(b, `,"output_top_logprobs":`...)
		b = append(b, a.tops...)
	}
	b = append(b, `,"completion_tokens":`...)
	d.logs = append(strconv.AppendInt(b, int64(a.usage.Output), 10), '}')
	return d.logs
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
