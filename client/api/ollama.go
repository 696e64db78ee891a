package api

import (
	"strconv"

	"github.com/tidwall/gjson"
)

// ollama is Ollama's own API: /api/chat, which is what people use Ollama through and the one that has roles and can be
// told to think; and with generate set /api/generate in raw mode, without any template, where a prompt has exactly the
// tokens that were meant. It follows ollama/ollama, docs/api.md and api/types.go, and what Ollama 0.17.4 was seen to
// send; thinking was not seen on a running engine.
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

// Traits has no Forces: Ollama cannot be told to go on after a natural end.
func (d ollama) Traits() Traits { return Traits{Counts: true, Thinks: !d.generate} }

// Encode appends the body.
func (d ollama) Encode(dst []byte, r *Request, p *Params) ([]byte, error) {
	e := encoder{dst: append(dst, '{'), extra: gjson.ParseBytes(p.Extra)}
	e.text("model", p.Model)
	if d.generate {
		e.text("prompt", r.Prompt())
		e.literal("raw", "true")
	} else {
		e.messages(r.Messages)
	}
	e.literal("stream", "true")
	if p.Think != nil && !d.generate && !p.Fields.NoThinking {
		e.literal("think", strconv.FormatBool(*p.Think))
	}
	e.object("options", func(e *encoder) {
		e.number("num_predict", r.OutputTokens)
		e.temperature(p.Temperature)
	})
	e.extras()
	return append(e.dst, '}'), nil
}

// ollamaDecoder reads lines such as
//
//	{"model":"m","created_at":"..","response":" a","done":false}
//	{"model":"m","created_at":"..","message":{"role":"assistant","content":"","thinking":" hm"},"done":false}
//
// of which the last has "done":true and the counts, and is the terminator.
type ollamaDecoder struct{ done bool }

func (d *ollamaDecoder) Reset() { *d = ollamaDecoder{} }

// Complete reports whether the stream may end: after "done":true.
func (d *ollamaDecoder) Complete() bool { return d.done }

// Decode reads one line.
func (d *ollamaDecoder) Decode(frame []byte, c *Chunk) error {
	*c = Chunk{Usage: NoUsage}
	o, err := openObject(frame)
	if err != nil {
		return err
	}
	var response, thinking, message, done, reason, fault, kind value
	for o.next() {
		switch string(o.key) {
		case "response":
			response = o.value
		case "thinking":
			thinking = o.value
		case "message":
			message = o.value
		case "done":
			done = o.value
		case "done_reason":
			reason = o.value
		case "prompt_eval_count":
			c.Usage.Prompt = o.value.number()
		case "eval_count":
			c.Usage.Output = o.value.number()
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
	sayOllama(c, response, thinking, message)
	if done.isTrue() {
		c.Done, d.done = true, true
		c.Finish = finishOf(reason.text())
	}
	return nil
}

// sayOllama notes a line's text.
func sayOllama(c *Chunk, response, thinking, message value) {
	var calls value
	for o := message.object(); o.next(); {
		switch string(o.key) {
		case "content":
			response = o.value
		case "thinking":
			thinking = o.value
		case "tool_calls":
			calls = o.value
		}
	}
	answer := len(response.text()) > 0
	if answer {
		c.Raw = response.text()
	}
	answer = answer || calls.length() > 0
	thought := len(thinking.text()) > 0
	c.Text, c.Reasoning = answer || thought, thought && !answer
}
