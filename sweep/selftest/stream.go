package selftest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// words are the texts of tokens: of one length, so that a chunk can be changed in place, and single tokens in the vocabularies
// of common tokenizers.
var words = [...]string{"self", "from", "this", "that", "with", "name", "data", "file", "code", "line", "time", "list", "path", "text", "type", "true"}

// stream is one answer. Its chunks are rendered before the first is due. Times are readings of the server's clock.
type stream struct {
	socket *socket
	order  PacedOrder
	every  time.Duration
	output int // tokens

	first, middle, last part // first begins with the headers of the response; last ends it
	instants            bool // the text of a token is the instant of its write, and not a word

	sent    int   // tokens
	t0, due int64 // arrival of the request; when the next token is due
	firstAt int64
	lastAt  int64
	gaps    []int32 // us between writes, rounded
	err     error
	done    chan struct{}
}

// part is what is written for one token.
type part struct {
	bytes []byte
	at    int // where the token's text begins
}

// format is how an answer is written.
type format struct {
	model                  string
	id                     int64
	chat, roleChunk, usage bool
}

// event returns one chunk of the body that holds one server-sent event.
func (f format) event(choices, more string) string {
	object, prefix := "chat.completion.chunk", "chatcmpl"
	if !f.chat {
		object, prefix = "text_completion", "cmpl"
	}
	data := fmt.Sprintf(`data: {"id":"%s-%08d","object":"%s","created":1700000000,"model":"%s","choices":[%s]%s}`+"\n\n",
		prefix, f.id, object, f.model, choices, more)
	return fmt.Sprintf("%x\r\n%s\r\n", len(data), data)
}

// token returns the event of one token.
func (f format) token(role, text, finish string) string {
	if f.chat {
		return f.event(fmt.Sprintf(`{"index":0,"delta":{%s"content":"%s"},"logprobs":null,"finish_reason":%s}`, role, text, finish), "")
	}
	return f.event(fmt.Sprintf(`{"index":0,"text":"%s","logprobs":null,"finish_reason":%s,"stop_reason":null}`, text, finish), "")
}

// end returns what follows the last token.
func (f format) end(prompt, output int) string {
	end := ""
	if f.usage {
		end = f.event("", fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d}`, prompt, prompt+output, output))
	}
	return end + "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
}

// render makes the parts of an answer.
func (s *stream) render(f format, prompt int) {
	const (
		head       = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
		unfinished = "null"
		finished   = `"length"`
	)
	text := " " + words[0]
	if s.instants {
		text = strings.Repeat("0", instantDigits)
	}
	begin, role := head, `"role":"assistant",`
	if f.chat && f.roleChunk {
		begin += f.event(`{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}`, "")
		role = ""
	}
	if s.output == 1 {
		s.first = newPart(begin, f.token(role, text, finished)+f.end(prompt, 1), text)
		return
	}
	s.first = newPart(begin, f.token(role, text, unfinished), text)
	s.middle = newPart("", f.token("", text, unfinished), text)
	s.last = newPart("", f.token("", text, finished)+f.end(prompt, s.output), text)
}

func newPart(begin, event, text string) part {
	return part{[]byte(begin + event), len(begin) + bytes.Index([]byte(event), []byte(`"`+text+`"`)) + 1}
}

// next sends the token that is due and reports whether there are more.
func (s *stream) next(c pacedClock) bool {
	p := &s.middle
	switch s.sent {
	case 0:
		p = &s.first
	case s.output - 1:
		p = &s.last
	}
	now := c.Now()
	if s.instants {
		putInstant(p.bytes[p.at:], now)
	} else {
		copy(p.bytes[p.at+1:], words[s.sent%len(words)])
	}
	if s.err = s.socket.write(p.bytes); s.err != nil {
		return false
	}
	if s.sent == 0 {
		s.firstAt = now
	} else {
		s.gaps = append(s.gaps, int32((now-s.lastAt+500)/1000))
	}
	s.lastAt = now
	s.sent++
	return s.sent < s.output
}

// putInstant writes nanoseconds with leading zeros.
func putInstant(to []byte, nanos int64) {
	var b [instantDigits]byte
	s := strconv.AppendInt(b[:0], nanos, 10)
	n := instantDigits - len(s)
	for i := range n {
		to[i] = '0'
	}
	copy(to[n:instantDigits], s)
}

// whole returns an answer that is not streamed.
func whole(model string, chat bool, prompt, output int) []byte {
	text := strings.Repeat(" "+words[0], output)
	usage := fmt.Sprintf(`{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d}`, prompt, prompt+output, output)
	if chat {
		return fmt.Appendf(nil, `{"id":"chatcmpl-0","object":"chat.completion","created":%d,"model":"%s","choices":[{"index":0,"message":{"role":"assistant","content":%q},"logprobs":null,"finish_reason":"length"}],"usage":%s}`,
			time.Now().Unix(), model, text, usage)
	}
	return fmt.Appendf(nil, `{"id":"cmpl-0","object":"text_completion","created":%d,"model":"%s","choices":[{"index":0,"text":%q,"logprobs":null,"finish_reason":"length"}],"usage":%s}`,
		time.Now().Unix(), model, text, usage)
}
