package api

import ()

// lmdeploy is lmdeploy's own /generate. It follows InternLM/lmdeploy, lmdeploy/serve/openai/endpoints/generate.py and
// protocol.py (GenerateReqInput: max_tokens = 128, at the top level), as of 0.10; not checked against a running engine.
type lmdeploy struct{}

var _ Dialect = lmdeploy{}

func (lmdeploy) Name() string        { return "lmdeploy" }
func (lmdeploy) Path(string) string  { return "/generate" }
func (lmdeploy) Framing() Framing    { return SSE }
func (lmdeploy) NewDecoder() Decoder { return &generateDecoder{pieces: true} }
func (lmdeploy) Traits() Traits {
	return Traits{Forces: true, Counts: true, Fields: Fields{IgnoreEOS: true}}
}

// Encode returns the body. There is no chat template: the messages' contents are the prompt.
func (lmdeploy) Encode(r *Request, p *Params) ([]byte, error) {
	return encodePrompt(r, p, "max_tokens")
}

// encodePrompt returns the flat body of lmdeploy's and llama.cpp's own APIs, which differ in the name of the length.
func encodePrompt(r *Request, p *Params, length string) ([]byte, error) {
	e := newEncoder(p)
	e.Text("prompt", r.Prompt())
	e.Count(length, r.OutputTokens)
	if p.Fields.IgnoreEOS && r.OutputTokens > 0 {
		e.Flag("ignore_eos", true)
	}
	e.Temperature(p.Temperature)
	e.Flag("stream", true)
	return e.Finish()
}
