package api

import "github.com/tidwall/gjson"

// triton is the generate extension of NVIDIA's Triton Inference Server, for the two kinds of model that people serve
// with it. It follows triton-inference-server/server, docs/protocol/extension_generate.md; for TensorRT-LLM's ensemble
// triton-inference-server/tensorrtllm_backend, which takes what is asked at the top level; for vLLM's backend
// triton-inference-server/vllm_backend, src/model.py and src/utils/request.py of 2026, which takes sampling parameters
// nested, and counts tokens where it is told to. Neither was seen on a running engine.
type triton struct{ vllm bool }

var _ Dialect = triton{}

func (d triton) Name() string {
	if d.vllm {
		return "triton-vllm"
	}
	return "triton"
}

func (triton) Path(model string) string { return "/v2/models/" + model + "/generate_stream" }
func (triton) Framing() Framing         { return SSE }
func (triton) NewDecoder() Decoder      { return &tritonDecoder{} }

// Traits: TensorRT-LLM's ensemble tells no counts, and has no way to go on after a natural end that fits all
// versions. Both end with the end of the body.
func (d triton) Traits() Traits {
	t := Traits{Bare: true, Forces: d.vllm, Counts: d.vllm}
	if d.vllm {
		t.Fields = AllFields
	}
	return t
}

// Encode appends the body. There is no chat template: the messages' contents are the input.
func (d triton) Encode(dst []byte, r *Request, p *Params) ([]byte, error) {
	e := encoder{dst: append(dst, '{'), extra: gjson.ParseBytes(p.Extra)}
	e.text("text_input", r.Prompt())
	e.literal("stream", "true")
	if !d.vllm {
		e.number("max_tokens", r.OutputTokens)
		e.temperature(p.Temperature)
		e.extras()
		return append(e.dst, '}'), nil
	}
	if p.Fields.StreamUsage {
		e.literal("return_finish_reason", "true")
		e.literal("return_num_input_tokens", "true")
		e.literal("return_num_output_tokens", "true")
	}
	e.object("parameters", func(e *encoder) {
		e.length(r.OutputTokens, p.Fields)
		e.temperature(p.Temperature)
	})
	e.extras()
	return append(e.dst, '}'), nil
}

// tritonDecoder reads chunks such as
//
//	{"model_name":"ensemble","model_version":"1","output_log_probs":[0.0],"text_output":" a"}
//	{"model_name":"m","model_version":"1","finish_reason":"None","num_output_tokens":1,"text_output":" a"}
//
// TensorRT-LLM's texts may be pieces or cumulative, by the model's configuration. There is no terminator: the body
// ends. A finish reason comes only where vLLM's backend was asked for it.
type tritonDecoder struct {
	texts  texts
	probs  probabilities
	output int
	text   bool
	tells  bool // finish reasons come, if only "None"
	finish bool
}

func (d *tritonDecoder) Reset() {
	d.texts.reset()
	*d = tritonDecoder{texts: d.texts}
}

// Complete reports whether the stream may end: after the finish reason where the server tells any, else after any text.
func (d *tritonDecoder) Complete() bool { return d.finish || d.text && !d.tells }

// Decode reads one chunk.
func (d *tritonDecoder) Decode(frame []byte, c *Chunk) error {
	*c = Chunk{Usage: NoUsage}
	o, err := openObject(frame)
	if err != nil {
		return err
	}
	var text, probs, finish, input, output, fault, kind value
	for o.next() {
		switch string(o.key) {
		case "text_output":
			text = o.value.only()
		case "output_log_probs":
			probs = o.value
		case "finish_reason":
			finish = o.value.only()
		case "num_input_tokens":
			input = o.value.only()
		case "num_output_tokens":
			output = o.value.only()
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
	if fresh := d.texts.news(text.text()); len(fresh) > 0 {
		c.Text, c.Raw = true, fresh
	}
	c.Usage.Prompt = input.number()
	d.count(c, output.number(), probs)
	d.text = d.text || c.Text
	if f := finish.text(); len(f) > 0 {
		d.tells = true
		if string(f) != "None" {
			c.Finish, d.finish = finishOf(f), true
		}
	}
	return nil
}

// count notes a chunk's tokens: vLLM's backend tells them for each chunk; else log-probs are counted.
func (d *tritonDecoder) count(c *Chunk, output int, probs value) {
	switch {
	case output != Unknown:
		d.output += output
		c.Tokens, c.Usage.Output = output, d.output
		c.Text = c.Text || output > 0
	case c.Text:
		c.Tokens, c.IDs = d.probs.count(probs)
	}
}

// probabilities counts tokens by the lists of their log-probs, which is all that TensorRT-LLM tells. It fills them with
// zeros where nobody asked for them, and in some versions pads them: so lists count as long as all of a stream have
// one element, or each is longer than the one before; after anything else they count no more.
type probabilities struct {
	total, last, chunks int
	senseless           bool
}

// count returns the tokens of a chunk, and the tokens so far; 0 and Unknown where lists do not tell.
func (p *probabilities) count(v value) (tokens, total int) {
	n := v.length()
	p.chunks++
	switch {
	case p.senseless || n == 0:
		p.senseless = true
		return 0, Unknown
	case n > p.last && p.total == p.last: // cumulative
		tokens = n - p.last
	case n == 1 && p.last == 1 && p.total == p.chunks-1: // one each
		tokens = 1
	default:
		p.senseless = true
		return 0, Unknown
	}
	p.last = n
	p.total += tokens
	return tokens, p.total
}
