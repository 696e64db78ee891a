package api

import "github.com/tidwall/gjson"

// tgi is the own API of Hugging Face's Text Generation Inference. It follows
// huggingface/text-generation-inference, docs/openapi.json 2.4.1 (GenerateRequest, StreamResponse, StreamDetails) and
// router/src/server.rs; not seen on a running engine.
type tgi struct{}

var _ Dialect = tgi{}

func (tgi) Name() string        { return "tgi" }
func (tgi) Path(string) string  { return "/generate_stream" }
func (tgi) Framing() Framing    { return SSE }
func (tgi) NewDecoder() Decoder { return &tgiDecoder{} }

// Traits has no Forces: TGI cannot be told to go on after a natural end.
func (tgi) Traits() Traits { return Traits{Counts: true} }

// Encode appends the body. There is no chat template: the messages' contents are the input. TGI refuses a temperature
// of 0; without sampling it is just that.
func (tgi) Encode(dst []byte, r *Request, p *Params) ([]byte, error) {
	e := encoder{dst: append(dst, '{'), extra: gjson.ParseBytes(p.Extra)}
	e.text("inputs", r.Prompt())
	e.object("parameters", func(e *encoder) {
		e.number("max_new_tokens", r.OutputTokens)
		e.literal("details", "true")
		switch {
		case p.Temperature == nil:
		case *p.Temperature == 0:
			e.literal("do_sample", "false")
		default:
			e.literal("do_sample", "true")
			e.temperature(p.Temperature)
		}
	})
	e.extras()
	return append(e.dst, '}'), nil
}

// tgiDecoder reads events such as
//
//	{"index":1,"token":{"id":264,"text":" a","logprob":-0.1,"special":false},"generated_text":null,"details":null}
//
// one a token. The last has "generated_text" and is the terminator; its details have the counts.
type tgiDecoder struct {
	tokens int
	done   bool
}

func (d *tgiDecoder) Reset() { *d = tgiDecoder{} }

// Complete reports whether the stream may end: after the event with the generated text.
func (d *tgiDecoder) Complete() bool { return d.done }

// Decode reads one event.
func (d *tgiDecoder) Decode(frame []byte, c *Chunk) error {
	*c = Chunk{Usage: NoUsage}
	o, err := openObject(frame)
	if err != nil {
		return err
	}
	var token, whole, details, fault, kind value
	for o.next() {
		switch string(o.key) {
		case "token":
			token = o.value
		case "generated_text":
			whole = o.value
		case "details":
			details = o.value
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
	d.token(c, token)
	if len(whole) > 0 && whole[0] == '"' {
		c.Done, d.done = true, true
		readDetails(c, details)
	}
	return nil
}

// token notes an event's token. A special one, such as the end of the sequence, is a token and no text.
func (d *tgiDecoder) token(c *Chunk, v value) {
	if !v.isObject() {
		return
	}
	var text, special value
	for o := v.object(); o.next(); {
		switch string(o.key) {
		case "text":
			text = o.value
		case "special":
			special = o.value
		}
	}
	d.tokens++
	c.Text, c.Tokens, c.IDs = true, 1, d.tokens
	if raw := text.text(); len(raw) > 0 && !special.isTrue() {
		c.Raw = raw
	}
}

func readDetails(c *Chunk, v value) {
	for o := v.object(); o.next(); {
		switch string(o.key) {
		case "finish_reason":
			c.Finish = finishOf(o.value.text())
		case "generated_tokens":
			c.Usage.Output = o.value.number()
		case "input_length":
			c.Usage.Prompt = o.value.number()
		}
	}
}
