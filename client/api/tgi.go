package api

import ()

// tgi is the own API of Hugging Face's Text Generation Inference. It follows
// huggingface/text-generation-inference, docs/openapi.json 2.4.1 (GenerateRequest, StreamResponse, StreamDetails) and
// router/src/server.rs; not checked against a running engine.
type tgi struct{}

var _ Dialect = tgi{}

func (tgi) Name() string        { return "tgi" }
func (tgi) Path(string) string  { return "/generate_stream" }
func (tgi) Framing() Framing    { return SSE }
func (tgi) NewDecoder() Decoder { return &tgiDecoder{} }

// Traits has no Forces: TGI cannot be told to continue after a natural end.
func (tgi) Traits() Traits { return Traits{Counts: true} }

// Encode returns the body. There is no chat template: the messages' contents are the input. TGI refuses a temperature
// of 0; switching sampling off is the same.
func (tgi) Encode(r *Request, p *Params) ([]byte, error) {
	e := newEncoder(p)
	e.Text("inputs", r.Prompt())
	e.Object("parameters", func(e *encoder) {
		e.Count("max_new_tokens", r.OutputTokens)
		e.Flag("details", true)
		if p.Temperature == nil {
			return
		}
		e.Flag("do_sample", *p.Temperature != 0)
		if *p.Temperature != 0 {
			e.Temperature(p.Temperature)
		}
	})
	return e.Finish()
}

// tgiDecoder reads events such as
//
//	{"index":1,"token":{"id":264,"text":" a","logprob":-0.1,"special":false},"generated_text":null,"details":null}
//
// with one token each. The last one has "generated_text" and is the terminator; its details have the counts.
type tgiDecoder struct {
	reader fieldReader
	tokens int
	done   bool
}

func (d *tgiDecoder) Reset() { *d = tgiDecoder{reader: d.reader} }

// Complete reports whether the stream may end: after the event with the generated text.
func (d *tgiDecoder) Complete() bool { return d.done }

// tgiToken is an event's token.
type tgiToken struct {
	present bool
	special bool // a token without text, such as the end of the sequence
	text    []byte
}

// tgiDetails are the parts of an answer's details that are used.
type tgiDetails struct {
	finish         []byte
	output, prompt int
}

// Decode reads one event.
func (d *tgiDecoder) Decode(frame []byte, c *Chunk) error {
	var token tgiToken
	var whole []byte
	details := tgiDetails{output: Unknown, prompt: Unknown}
	for m := d.reader.Open(frame, c); m.Next(); {
		switch string(m.Key()) {
		case "token":
			token = readTGIToken(&d.reader)
		case "generated_text":
			whole = d.reader.Value()
		case "details":
			details = readTGIDetails(&d.reader)
		}
	}
	if done, err := d.reader.Close(c); done {
		return err
	}
	if token.present {
		d.tokens++
		c.Text, c.Tokens, c.IDs = true, 1, d.tokens
		if !token.special && len(token.text) > 0 {
			c.Raw = token.text
		}
	}
	if len(whole) > 0 && whole[0] == '"' {
		c.Done, d.done = true, true
		c.Finish = finishReason(details.finish)
		c.Usage.Output, c.Usage.Prompt = details.output, details.prompt
	}
	return nil
}

func readTGIToken(r *fieldReader) (t tgiToken) {
	m := r.Object()
	t.present = !m.None()
	for m.Next() {
		switch string(m.Key()) {
		case "text":
			t.text = r.Text()
		case "special":
			t.special = r.IsTrue()
		}
	}
	return t
}

func readTGIDetails(r *fieldReader) tgiDetails {
	d := tgiDetails{output: Unknown, prompt: Unknown}
	for m := r.Object(); m.Next(); {
		switch string(m.Key()) {
		case "finish_reason":
			d.finish = r.Text()
		case "generated_tokens":
			d.output = r.Count()
		case "input_length":
			d.prompt = r.Count()
		}
	}
	return d
}
