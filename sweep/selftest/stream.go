package selftest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// instantDigits is the length of an instant in text: that of the largest int64.
const instantDigits = 19

// stream is one answer. Its chunks are rendered before the first is due.
type stream struct {
	order
	socket              *socket
	output              int  // tokens
	first, middle, last part // first begins with the headers of the response; last ends it
	sent                int  // tokens
	due                 int64
	err                 error
	done                chan struct{}
}

type part struct {
	bytes []byte
	at    int // where the token's text begins
}

// event returns a chunk of the body with one server-sent event.
func event(choices, more string) string {
	data := fmt.Sprintf(`data: {"id":"chatcmpl-00000001","object":"chat.completion.chunk","created":1700000000,`+
		`"model":"%s","choices":[%s]%s}`+"\n\n", model, choices, more)
	return fmt.Sprintf("%x\r\n%s\r\n", len(data), data)
}

func (s *stream) render() {
	const (
		head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n"
		role = `"role":"assistant",`
	)
	text := strings.Repeat("0", instantDigits)
	token := func(begin, role, finish, end string) part {
		e := event(fmt.Sprintf(`{"index":0,"delta":{%s"content":"%s"},"logprobs":null,"finish_reason":%s}`, role, text,
			finish), "")
		return part{[]byte(begin + e + end), len(begin) + bytes.Index([]byte(e), []byte(`"`+text+`"`)) + 1}
	}
	end := event("", fmt.Sprintf(`,"usage":{"prompt_tokens":1,"total_tokens":%d,"completion_tokens":%d}`, 1+s.output,
		s.output)) +
		"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
	if s.output == 1 {
		s.first = token(head, role, `"length"`, end)
		return
	}
	s.first, s.middle, s.last = token(head, role, "null", ""), token("", "", "null", ""), token("", "", `"length"`, end)
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
	putInstant(p.bytes[p.at:], c.Now())
	if s.err = s.socket.write(p.bytes); s.err != nil {
		return false
	}
	s.sent++
	return s.sent < s.output
}

func putInstant(to []byte, nanos int64) {
	var b [instantDigits]byte
	s := strconv.AppendInt(b[:0], nanos, 10)
	n := instantDigits - len(s)
	for i := range n {
		to[i] = '0'
	}
	copy(to[n:instantDigits], s)
}
