package server

import (
	"fmt"
	"llmsweep/client/sim"
	"strconv"
	"strings"
)

// openAIVoice speaks the OpenAI APIs: chat completions, and plain ones.
type openAIVoice struct {
	chunkWriter
	m     *manners
	head  []byte // of each chunk, up to the list of choices
	think string // of a choice with reasoning, up to the text
}

// knownFields are the parameters of the OpenAI API, which a strict server stops at.
func knownFields() []string {
	return strings.Fields(`model messages prompt max_tokens max_completion_tokens temperature top_p n stream
	stream_options stop seed presence_penalty frequency_penalty logprobs top_logprobs logit_bias user response_format
	tools tool_choice parallel_tool_calls echo best_of suffix store metadata reasoning_effort service_tier`)
}

// chatAPI and textAPI are OpenAI's two endpoints in an engine's manners.
func chatAPI(m *manners) *api { return openAIAPI(m, "/v1/chat/completions", true) }
func textAPI(m *manners) *api { return openAIAPI(m, "/v1/completions", false) }

func openAIAPI(m *manners, path string, chat bool) *api {
	return &api{
		path: path, known: knownFields(), framing: events(), refusal: m.refusal, doneAfterError: m.doneAfterError,
		parse: func(s *server, raw []byte) (job, error) { return s.parseOpenAI(raw, chat) },
		voice: func(a *answer) voice { return newOpenAIVoice(a, m) },
	}
}

func newOpenAIVoice(a *answer, m *manners) *openAIVoice {
	object, kind := "text_completion", "cmpl-"
	if a.job.chat {
		object, kind = "chat.completion.chunk", "chatcmpl-"
	}
	a.id = kind + a.id
	return &openAIVoice{
		chunkWriter: chunkWriter{answer: a},
		m:           m,
		head: fmt.Appendf(nil, `{"id":"%s","object":"%s","created":%d,"model":%s,%s"choices":[`,
			a.id, object, a.created.Unix(), quote(a.server.options.ModelID), m.head),
		think: fmt.Sprintf(`{"index":0,"delta":{%s"%s":"`, m.delta, a.server.options.ReasoningField),
	}
}

// chunk starts a chunk.
func (v *openAIVoice) chunk() {
	v.begin()
	v.buf = append(v.buf, v.head...)
}

// opening is the chunk that opens a chat: no token yet.
func (v *openAIVoice) opening() []byte {
	if !v.job.chat || v.m.role == "" {
		return nil
	}
	v.chunk()
	v.say(v.m.role)
	v.finish("")
	return v.finishChunk(0)
}

// choice writes a choice with tokens, up to its finish reason.
func (v *openAIVoice) choice(from, to int) {
	switch {
	case from < v.job.seq.ReasoningTokens && to > from:
		v.say(v.think)
	case v.job.chat:
		v.say(`{"index":0,"delta":{`)
		v.say(v.m.delta)
		v.say(`"content":"`)
	default:
		v.say(`{"index":0,"text":"`)
	}
	v.words(from, to)
	if v.job.chat {
		v.say(`"}`)
	} else {
		v.say(`"`)
	}
	v.say(v.m.extra)
}

func (v *openAIVoice) tokens(from, to int) []byte {
	v.chunk()
	v.choice(from, to)
	v.finish(v.finishAt(to))
	return v.finishChunk(to)
}

// finishAt is the finish reason that rides on the chunk ending with a token.
func (v *openAIVoice) finishAt(to int) string {
	if !v.last(to) || !v.m.rides(v.job.chat, v.job.finish) {
		return ""
	}
	return v.job.finish
}

// finish ends a choice.
func (v *openAIVoice) finish(reason string) {
	if reason == "" {
		v.say(`,"finish_reason":null}`)
		return
	}
	v.say(`,"finish_reason":"`)
	v.say(reason)
	v.say(`"`)
	v.say(v.m.finished)
	v.say("}")
}

// finishChunk closes the list of choices; so many tokens are out by then.
func (v *openAIVoice) finishChunk(produced int) []byte {
	v.say("]")
	switch {
	case v.job.continuousUsage:
		v.say(`,"usage":{`)
		v.buf = appendCounts(v.buf, v.job.seq.PromptTokens, produced)
		v.say("}")
	case v.m.zeros && v.job.usage && !v.job.chat:
		v.say(`,"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}`)
	case v.job.usage && !v.m.noNulls || v.m.nulls:
		v.say(`,"usage":null`)
	}
	return v.end()
}

// closing sends what has not gone along with the text: a chunk with the finish reason, one with the usage, [DONE].
func (v *openAIVoice) closing(u sim.Usage, send func([]byte) bool) {
	counted := false
	if !v.m.rides(v.job.chat, v.job.finish) {
		v.chunk()
		if v.m.bare && v.job.chat {
			v.say(`{"index":0,"delta":{}`)
		} else {
			v.choice(u.OutputTokens, u.OutputTokens)
		}
		v.finish(v.job.finish)
		if v.m.usageOnFinish && !v.job.chat && !v.server.options.NoUsage {
			v.say(`],"usage":`)
			v.usage(u)
			send(v.end())
			counted = true
		} else {
			send(v.finishChunk(u.OutputTokens))
		}
	}
	if v.job.usage && !counted {
		v.chunk()
		v.say(`],"usage":`)
		v.usage(u)
		send(v.end())
	}
	send([]byte(done))
}

// usage writes the whole usage object, and llama.cpp's timings behind it.
func (v *openAIVoice) usage(u sim.Usage) {
	v.buf = appendUsage(v.buf, u, v.server.config.PrefixCache)
	if v.m.timings {
		v.buf = appendTimings(v.buf, u)
	}
}

// whole is the answer in one piece.
func (v *openAIVoice) whole(u sim.Usage) []byte {
	object := "text_completion"
	choice := fmt.Appendf(nil, `"text":%s`, quote(v.text(0, u.OutputTokens)))
	if v.job.chat {
		object = "chat.completion"
		reasoning := v.job.seq.ReasoningTokens
		choice = fmt.Appendf(nil, `"message":{"role":"assistant","content":%s`, quote(v.text(reasoning, u.OutputTokens)))
		if reasoning > 0 {
			choice = fmt.Appendf(choice, `,"%s":%s`, v.server.options.ReasoningField, quote(v.text(0, reasoning)))
		}
		choice = append(choice, '}')
	}
	raw := fmt.Appendf(nil, `{"id":"%s","object":"%s","created":%d,"model":%s,"choices":[{"index":0,%s%s,"finish_reason":"%s"%s}]`,
		v.id, object, v.created.Unix(), quote(v.server.options.ModelID), choice, v.m.extra, v.job.finish, v.m.finished)
	if !v.server.options.NoUsage {
		raw = append(raw, `,"usage":`...)
		raw = appendUsage(raw, u, v.server.config.PrefixCache)
	}
	return append(raw, '}')
}

func appendCounts(buf []byte, prompt, output int) []byte {
	buf = append(buf, `"prompt_tokens":`...)
	buf = strconv.AppendInt(buf, int64(prompt), 10)
	buf = append(buf, `,"total_tokens":`...)
	buf = strconv.AppendInt(buf, int64(prompt+output), 10)
	buf = append(buf, `,"completion_tokens":`...)
	return strconv.AppendInt(buf, int64(output), 10)
}

// appendUsage writes the whole usage object. Details are there where they have something to tell.
func appendUsage(buf []byte, u sim.Usage, prefixCache bool) []byte {
	buf = append(buf, '{')
	buf = appendCounts(buf, u.PromptTokens, u.OutputTokens)
	if prefixCache {
		buf = fmt.Appendf(buf, `,"prompt_tokens_details":{"cached_tokens":%d}`, u.CachedTokens)
	} else {
		buf = append(buf, `,"prompt_tokens_details":null`...)
	}
	if u.ReasoningTokens > 0 {
		buf = fmt.Appendf(buf, `,"completion_tokens_details":{"reasoning_tokens":%d}`, u.ReasoningTokens)
	}
	return append(buf, '}')
}
