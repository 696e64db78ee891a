package sim

import (
	"fmt"
	"strconv"
	"time"
)

// encoder writes the chunks of one stream. It appends to one buffer: nothing is allocated per token.
type encoder struct {
	words  [][]byte
	job    *job
	head   []byte // of each chunk, up to the list of choices
	before []byte // of a choice with text: before, text, after
	think  []byte // the same for reasoning
	after  []byte
	stamps bool
	buf    []byte
}

func newEncoder(s *server, j *job, id string, created time.Time, stamps bool) *encoder {
	object, before, after := "text_completion", `{"index":0,"text":"`, `","logprobs":null`
	if j.chat {
		object, before, after = "chat.completion.chunk", `{"index":0,"delta":{"content":"`, `"},"logprobs":null`
	}
	return &encoder{
		words:  s.words,
		job:    j,
		head:   fmt.Appendf(nil, `data: {"id":"%s","object":"%s","created":%d,"model":%s,"choices":[`, id, object, created.Unix(), quote(s.options.ModelID)),
		before: []byte(before),
		think:  fmt.Appendf(nil, `{"index":0,"delta":{"%s":"`, s.options.ReasoningField),
		after:  []byte(after),
		stamps: stamps,
	}
}

// role is the chunk that opens a chat: no token yet.
func (e *encoder) role() []byte {
	e.buf = append(e.buf[:0], e.head...)
	e.buf = append(e.buf, `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}`...)
	return e.end(0)
}

// tokens is the chunk that carries the tokens after from, up to to.
func (e *encoder) tokens(from, to int, finish string) []byte {
	e.buf = append(e.buf[:0], e.head...)
	if from < e.job.seq.ReasoningTokens {
		e.buf = append(e.buf, e.think...)
	} else {
		e.buf = append(e.buf, e.before...)
	}
	for n := from + 1; n <= to; n++ {
		e.buf = append(e.buf, e.words[wordAt(e.job.seed, n)]...)
	}
	e.buf = append(e.buf, e.after...)
	e.finishReason(finish)
	return e.end(to)
}

// finish is a chunk with a finish reason and no text.
func (e *encoder) finish() []byte {
	e.buf = append(e.buf[:0], e.head...)
	e.buf = append(e.buf, e.before...)
	e.buf = append(e.buf, e.after...)
	e.finishReason(e.job.finish)
	return e.end(e.job.seq.OutputTokens)
}

func (e *encoder) finishReason(finish string) {
	if finish == "" {
		e.buf = append(e.buf, `,"finish_reason":null}`...)
		return
	}
	e.buf = append(e.buf, `,"finish_reason":"`...)
	e.buf = append(e.buf, finish...)
	e.buf = append(e.buf, `","stop_reason":null}`...)
}

// usage is the chunk after the last, without choices.
func (e *encoder) usage(u Usage, prefixCache bool) []byte {
	e.buf = append(e.buf[:0], e.head...)
	e.buf = append(e.buf, `],"usage":`...)
	e.buf = appendUsage(e.buf, u, prefixCache)
	return e.close()
}

// end closes the list of choices; produced tokens are out by then.
func (e *encoder) end(produced int) []byte {
	e.buf = append(e.buf, ']')
	switch {
	case e.job.continuousUsage:
		e.buf = append(e.buf, `,"usage":{`...)
		e.buf = appendCounts(e.buf, e.job.seq.PromptTokens, produced)
		e.buf = append(e.buf, '}')
	case e.job.usage:
		e.buf = append(e.buf, `,"usage":null`...)
	}
	return e.close()
}

func (e *encoder) close() []byte {
	if e.stamps {
		e.buf = append(e.buf, `,"sim_sent_ns":`...)
		e.buf = strconv.AppendInt(e.buf, time.Now().UnixNano(), 10)
	}
	e.buf = append(e.buf, "}\n\n"...)
	return e.buf
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
func appendUsage(buf []byte, u Usage, prefixCache bool) []byte {
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
