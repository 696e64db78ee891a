package api

import ()

// triton is the generate extension of NVIDIA's Triton Inference Server, for the two kinds of model that it mostly serves.
// It follows triton-inference-server/server, docs/protocol/extension_generate.md; for TensorRT-LLM's ensemble
// triton-inference-server/tensorrtllm_backend, which takes all fields at the top level; for vLLM's backend
// triton-inference-server/vllm_backend, src/model.py and src/utils/request.py of 2026, which takes sampling parameters
// nested, and counts tokens on request. Neither was checked against a running engine.
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

// Traits depend on the backend: TensorRT-LLM's ensemble tells no counts, and no field makes all its versions continue
// after a natural end. Streams of both end with the body.
func (d triton) Traits() Traits {
	t := Traits{Bare: true, Forces: d.vllm, Counts: d.vllm}
	if d.vllm {
		t.Fields = AllFields
	}
	return t
}

// Encode returns the body. There is no chat template: the messages' contents are the input.
func (d triton) Encode(r *Request, p *Params) ([]byte, error) {
	e := newEncoder(p)
	e.Text("text_input", r.Prompt())
	e.Flag("stream", true)
	if !d.vllm {
		e.Count("max_tokens", r.OutputTokens)
		e.Temperature(p.Temperature)
		return e.Finish()
	}
	if p.Fields.StreamUsage {
		e.Flag("return_finish_reason", true)
		e.Flag("return_num_input_tokens", true)
		e.Flag("return_num_output_tokens", true)
	}
	e.Object("parameters", func(e *encoder) {
		e.Length(r.OutputTokens, p.Fields)
		e.Temperature(p.Temperature)
	})
	return e.Finish()
}

// tritonDecoder reads chunks such as
//
//	{"model_name":"ensemble","model_version":"1","output_log_probs":[0.0],"text_output":" a"}
//	{"model_name":"m","model_version":"1","finish_reason":"None","num_output_tokens":1,"text_output":" a"}
//
// TensorRT-LLM's texts are pieces or cumulative, depending on the model's configuration. There is no terminator: the body
// ends. Only vLLM's backend sends a finish reason, on request.
type tritonDecoder struct {
	reader   fieldReader
	texts    texts
	logProbs logProbs
	output   int
	text     bool
	tells    bool // the server sends finish reasons, if only "None"
	finish   bool
}

func (d *tritonDecoder) Reset() {
	d.texts.Reset()
	*d = tritonDecoder{reader: d.reader, texts: d.texts}
}

// Complete reports whether the stream may end: after the finish reason where the server sends any, else after any text.
func (d *tritonDecoder) Complete() bool { return d.finish || d.text && !d.tells }

// Decode reads one chunk.
func (d *tritonDecoder) Decode(frame []byte, c *Chunk) error {
	var text, finish []byte
	input, output, probs := Unknown, Unknown, 0
	r := &d.reader
	for m := r.Open(frame, c); m.Next(); {
		switch string(m.Key()) {
		case "text_output":
			text = textOf(r.Only())
		case "output_log_probs":
			probs, _ = r.Length()
		case "finish_reason":
			finish = textOf(r.Only())
		case "num_input_tokens":
			input = countOf(r.Only())
		case "num_output_tokens":
			output = countOf(r.Only())
		}
	}
	if done, err := r.Close(c); done {
		return err
	}
	if fresh := d.texts.News(text); len(fresh) > 0 {
		c.Text, c.Raw = true, fresh
	}
	c.Usage.Prompt = input
	d.count(c, output, probs)
	d.text = d.text || c.Text
	if len(finish) > 0 {
		d.tells = true
		if string(finish) != "None" {
			c.Finish, d.finish = finishReason(finish), true
		}
	}
	return nil
}

// count works out a chunk's tokens. vLLM's backend tells them for each chunk; else log-probs are counted.
func (d *tritonDecoder) count(c *Chunk, output, probs int) {
	switch {
	case output != Unknown:
		d.output += output
		c.Tokens, c.Usage.Output = output, d.output
		c.Text = c.Text || output > 0
	case c.Text:
		c.Tokens, c.IDs = d.logProbs.count(probs)
	}
}

// logProbs counts tokens by the lengths of their lists of log-probs, which is all that TensorRT-LLM tells. It fills the
// lists with zeros where log-probs were not asked for, and pads them in some versions. So lists are counted as long as
// all of a stream have one element, or each is longer than the one before; from anything else on they count no more.
type logProbs struct {
	total, last, chunks int
	useless             bool
}

// count returns the tokens of a chunk whose list has n elements, and the tokens so far; 0 and Unknown where lists do not
// tell.
func (p *logProbs) count(n int) (tokens, total int) {
	p.chunks++
	switch {
	case p.useless || n == 0:
		p.useless = true
		return 0, Unknown
	case n > p.last && p.total == p.last: // cumulative
		tokens = n - p.last
	case n == 1 && p.last == 1 && p.total == p.chunks-1: // one each
		tokens = 1
	default:
		p.useless = true
		return 0, Unknown
	}
	p.last = n
	p.total += tokens
	return tokens, p.total
}
