package api

import (
	"strconv"

	"github.com/tidwall/gjson"
)

// openAI is the API that OpenAI began and vLLM, SGLang, lmdeploy, llama.cpp, Ollama and most hosted services speak:
// chat completions, or plain completions.
type openAI struct{ chat bool }

var _ Dialect = openAI{}

func (d openAI) Name() string {
	if d.chat {
		return "chat"
	}
	return "completions"
}

func (d openAI) Path(string) string {
	if d.chat {
		return "/v1/chat/completions"
	}
	return "/v1/completions"
}

func (openAI) Framing() Framing { return SSE }

func (openAI) NewDecoder() Decoder { return &openAIDecoder{} }

func (d openAI) Traits() Traits {
	return Traits{Forces: true, Thinks: d.chat, Counts: true, Fields: AllFields}
}

// Encode appends the body. Params.Extra is merged at the top level: its keys replace ours whole, objects included,
// and a null in it leaves our key out.
func (d openAI) Encode(dst []byte, r *Request, p *Params) ([]byte, error) {
	e := encoder{dst: append(dst, '{'), extra: gjson.ParseBytes(p.Extra)}
	if e.field("model") {
		e.dst = appendString(e.dst, p.Model)
	}
	if d.chat {
		e.messages(r.Messages)
	} else if e.field("prompt") {
		e.dst = appendString(e.dst, r.Prompt())
	}
	e.literal("stream", "true")
	e.length(r.OutputTokens, p.Fields)
	e.usage(p.Fields)
	if p.Temperature != nil && e.field("temperature") {
		e.dst = strconv.AppendFloat(e.dst, *p.Temperature, 'g', -1, 64)
	}
	if d.chat {
		e.think(p)
	}
	e.extras()
	return append(e.dst, '}'), nil
}

// think says whether to think: in the way of vLLM, SGLang, lmdeploy and llama.cpp, or in that of OpenAI and Ollama.
func (e *encoder) think(p *Params) {
	switch {
	case p.Think == nil || p.Fields.NoThinking:
	case !p.Fields.ReasoningEffort:
		e.literal("chat_template_kwargs", `{"enable_thinking":`+strconv.FormatBool(*p.Think)+`}`)
	case *p.Think:
		e.literal("reasoning_effort", `"medium"`)
	default:
		e.literal("reasoning_effort", `"none"`)
	}
}

// encoder writes one body.
type encoder struct {
	dst    []byte
	extra  gjson.Result // the user's object; its keys win
	merged string       // a key of it that has been written
}

// field writes a key, unless the user's object has it.
func (e *encoder) field(name string) bool {
	if e.extra.Get(name).Exists() {
		return false
	}
	e.key(name)
	return true
}

func (e *encoder) key(name string) {
	if e.dst[len(e.dst)-1] != '{' {
		e.dst = append(e.dst, ',')
	}
	e.dst = append(appendString(e.dst, name), ':')
}

func (e *encoder) literal(name, value string) {
	if e.field(name) {
		e.dst = append(e.dst, value...)
	}
}

func (e *encoder) messages(all []Message) {
	if !e.field("messages") {
		return
	}
	e.dst = append(e.dst, '[')
	for i, m := range all {
		if i > 0 {
			e.dst = append(e.dst, ',')
		}
		e.dst = append(e.dst, `{"role":`...)
		e.dst = appendString(e.dst, m.Role)
		e.dst = append(e.dst, `,"content":`...)
		e.dst = appendString(e.dst, m.Content)
		e.dst = append(e.dst, '}')
	}
	e.dst = append(e.dst, ']')
}

// length asks for n output tokens, and for no fewer where the server can be told so.
func (e *encoder) length(n int, f Fields) {
	if n <= 0 {
		return
	}
	name := "max_tokens"
	if f.MaxCompletionTokens {
		name = "max_completion_tokens"
	}
	e.literal(name, strconv.Itoa(n))
	if f.IgnoreEOS {
		e.literal("ignore_eos", "true")
		if f.MinTokens {
			e.literal("min_tokens", strconv.Itoa(n))
		}
	}
}

func (e *encoder) usage(f Fields) {
	switch {
	case f.StreamUsage && f.ContinuousUsage:
		e.literal("stream_options", `{"include_usage":true,"continuous_usage_stats":true}`)
	case f.StreamUsage:
		e.literal("stream_options", `{"include_usage":true}`)
	}
}

// extras writes the user's fields as they stand, nulls left out.
func (e *encoder) extras() {
	e.extra.ForEach(func(k, v gjson.Result) bool {
		if v.Type != gjson.Null && (e.merged == "" || k.Str != e.merged) {
			e.key(k.Str)
			e.dst = append(e.dst, v.Raw...)
		}
		return true
	})
}
