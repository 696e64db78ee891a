package api

import (
	"strconv"
)

// ollama is Ollama's own API: /api/chat, which has roles and a field for thinking; and with generate set /api/generate
// in raw mode, without any template, where a prompt has exactly the tokens that were meant. It follows ollama/ollama,
// docs/api.md and api/types.go, and captured answers of Ollama 0.17.4; thinking was not checked against a running
// engine.
type ollama struct{ generate bool }

var _ Dialect = ollama{}

func (d ollama) Name() string {
	if d.generate {
		return "ollama-generate"
	}
	return "ollama"
}

func (d ollama) Path(string) string {
	if d.generate {
		return "/api/generate"
	}
	return "/api/chat"
}

func (ollama) Framing() Framing    { return NDJSON }
func (ollama) NewDecoder() Decoder { return &ollamaDecoder{} }

// Traits has no Forces: Ollama cannot be told to continue after a natural end.
func (d ollama) Traits() Traits {
	return Traits{
		Counts: true, Thinks: !d.generate, Seed: `{"options":{"seed":0}}`,
		LogProbs: `{"logprobs":true,"top_logprobs":` + strconv.Itoa(TopTokens) + `}`,
	}
}

// Encode returns the body.
func (d ollama) Encode(r *Request, p *Params) ([]byte, error) {
	e := newEncoder(p)
	e.Text("model", p.Model)
	if d.generate {
		e.Text("prompt", r.Prompt())
		e.Flag("raw", true)
	} else {
		e.Messages("messages", r.Messages)
	}
	e.Flag("stream", true)
	if p.Think != nil && !d.generate && !p.Fields.NoThinking {
		e.Flag("think", *p.Think)
	}
	e.Object("options", func(e *encoder) {
		e.Count("num_predict", r.OutputTokens)
		e.Temperature(p.Temperature)
	})
	return e.Finish()
}

// ollamaDecoder reads lines such as
//
//	{"model":"m","created_at":"..","response":" a","done":false}
//	{"model":"m","created_at":"..","message":{"role":"assistant","content":"","thinking":" hm"},"done":false}
//
// The last one has "done":true and the counts, and is the terminator.
type ollamaDecoder struct {
	reader fieldReader
	done   bool
}

func (d *ollamaDecoder) Reset() { *d = ollamaDecoder{reader: d.reader} }

// Complete reports whether the stream may end: after "done":true.
func (d *ollamaDecoder) Complete() bool { return d.done }

// ollamaMessage is the text of one line. In /api/chat it is an object; in /api/generate it is part of the line.
type ollamaMessage struct {
	text, thinking       []byte
	hasText, hasThinking bool // the keys are there
	calls                int  // tool calls
}

// Decode reads one line.
func (d *ollamaDecoder) Decode(frame []byte, c *Chunk) error {
	var line, message ollamaMessage
	var reason, logs []byte
	usage, done := noUsage, false
	r := &d.reader
	for m := r.Open(frame, c); m.Next(); {
		switch string(m.Key()) {
		case "response":
			line.text = r.Text()
		case "thinking":
			line.thinking = r.Text()
		case "message":
			message = readOllamaMessage(r)
		case "logprobs":
			logs = filled(r.Value())
		case "done":
			done = r.IsTrue()
		case "done_reason":
			reason = r.Text()
		case "prompt_eval_count":
			usage.Prompt = r.Count()
		case "eval_count":
			usage.Output = r.Count()
		}
	}
	if over, err := r.Close(c); over {
		return err
	}
	c.Usage, c.LogProbs = usage, logs
	line.merge(&message).say(c)
	if done {
		c.Done, d.done = true, true
		c.Finish = finishReason(reason)
	}
	return nil
}

func readOllamaMessage(r *fieldReader) (o ollamaMessage) {
	for m := r.Object(); m.Next(); {
		switch string(m.Key()) {
		case "content":
			o.text, o.hasText = r.Text(), true
		case "thinking":
			o.thinking, o.hasThinking = r.Text(), true
		case "tool_calls":
			o.calls, _ = r.Length()
		}
	}
	return o
}

// merge puts what a message object has in place of what the line itself has.
func (o *ollamaMessage) merge(m *ollamaMessage) *ollamaMessage {
	if m.hasText {
		o.text = m.text
	}
	if m.hasThinking {
		o.thinking = m.thinking
	}
	o.calls = m.calls
	return o
}

// say puts what the line says into c.
func (o *ollamaMessage) say(c *Chunk) {
	if len(o.text) > 0 {
		c.Raw = o.text
	}
	answer := len(o.text) > 0 || o.calls > 0
	thought := len(o.thinking) > 0
	c.Text, c.Reasoning = answer || thought, thought && !answer
}
