package api

import (
	"strconv"
)

// llamacppAPI is llama-server's own /completion. It follows ggml-org/llama.cpp, tools/server/README.md ("POST
// /completion") and captured answers of llama-server b11669.
type llamacppAPI struct{}

var _ Dialect = llamacppAPI{}

func (llamacppAPI) Name() string        { return "llamacpp" }
func (llamacppAPI) Path(string) string  { return "/completion" }
func (llamacppAPI) Framing() Framing    { return SSE }
func (llamacppAPI) NewDecoder() Decoder { return &llamacppDecoder{} }
func (llamacppAPI) Traits() Traits {
	return Traits{
		Forces: true, Counts: true, Fields: Fields{IgnoreEOS: true},
		Seed: `{"seed":0}`, LogProbs: `{"n_probs":` + strconv.Itoa(TopTokens) + `}`,
	}
}

// Encode returns the body. There is no chat template: the messages' contents are the prompt.
func (llamacppAPI) Encode(r *Request, p *Params) ([]byte, error) {
	return encodePrompt(r, p, "n_predict")
}

// llamacppDecoder reads chunks such as
//
//	{"index":0,"content":" a","tokens":[565],"stop":false,"tokens_predicted":1,"tokens_evaluated":13}
//
// The last one has "stop":true and no text, and is the terminator. tokens_predicted is a running count. The tokens of a
// character that the server held back are counted with the chunk that shows it.
type llamacppDecoder struct {
	reader fieldReader
	tokens runningCount
	ids    int // so far
	done   bool
}

func (d *llamacppDecoder) Reset() { *d = llamacppDecoder{reader: d.reader} }

// Complete reports whether the stream may end: after "stop":true.
func (d *llamacppDecoder) Complete() bool { return d.done }

// llamacppFields are the parts of a chunk that are used.
type llamacppFields struct {
	content   []byte
	ids       int // how many
	stop      bool
	stopType  []byte
	predicted int
	evaluated int
	cached    int
	logs      []byte // log-probabilities

	limit, eos, word bool // in place of stop_type, in versions before 2025
}

// Decode reads one chunk.
func (d *llamacppDecoder) Decode(frame []byte, c *Chunk) error {
	f := llamacppFields{predicted: Unknown, evaluated: Unknown, cached: Unknown}
	for m := d.reader.Open(frame, c); m.Next(); {
		f.read(m.Key(), &d.reader)
	}
	if done, err := d.reader.Close(c); done {
		return err
	}
	d.count(c, &f)
	if len(f.content) > 0 {
		c.Text, c.Raw = true, f.content
	}
	if !f.stop { // the last chunk of some versions repeats all of them
		c.LogProbs = f.logs
	}
	if f.stop {
		c.Done, d.done = true, true
		c.Finish = f.finish()
	}
	return nil
}

func (f *llamacppFields) read(key []byte, r *fieldReader) {
	switch string(key) {
	case "content":
		f.content = r.Text()
	case "tokens":
		f.ids, _ = r.Length()
	case "completion_probabilities":
		f.logs = filled(r.Value())
	case "stop":
		f.stop = r.IsTrue()
	case "stop_type":
		f.stopType = r.Text()
	case "tokens_predicted":
		f.predicted = r.Count()
	case "tokens_evaluated":
		f.evaluated = r.Count()
	case "timings":
		f.cached = readDetail(r, "cache_n")
	case "stopped_limit":
		f.limit = r.IsTrue()
	case "stopped_eos":
		f.eos = r.IsTrue()
	case "stopped_word":
		f.word = r.IsTrue()
	}
}

// count works out a chunk's counts.
func (d *llamacppDecoder) count(c *Chunk, f *llamacppFields) {
	c.Usage.Output, c.Usage.Prompt, c.Usage.Cached = f.predicted, f.evaluated, f.cached
	if c.Usage.Prompt == 0 {
		c.Usage.Prompt = Unknown // not evaluated yet
	}
	d.ids += f.ids
	c.IDs = d.ids
	switch {
	case len(f.content) == 0:
	case f.predicted != Unknown:
		c.Tokens = d.tokens.Grow(f.predicted)
	case d.ids > 0:
		c.Tokens = d.tokens.Grow(d.ids)
	}
}

// finish returns the finish reason in the words of the other APIs, as llama-server's own /v1 has it.
func (f *llamacppFields) finish() string {
	switch string(f.stopType) {
	case "limit":
		return "length"
	case "eos", "word":
		return "stop"
	}
	switch {
	case f.limit:
		return "length"
	case f.eos || f.word:
		return "stop"
	}
	return finishReason(f.stopType)
}
