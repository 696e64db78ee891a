//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"
)

// words are single tokens of the tokenizer that the clients are given, and of one length, so that a chunk can be patched in place.
var words = []string{"self", "from", "this", "that", "with", "name", "data", "file", "code", "line", "time", "list", "path", "text", "type", "true"}

// stream is one answer. Its chunks are rendered before the first is due.
type stream struct {
	conn *net.TCPConn
	fd   int

	head   []byte // status line, headers and, where wanted, the chunk of the role
	first  []byte
	chunk  []byte // any token between
	last   []byte // the last token, usage, [DONE] and the end of the body
	word   int    // where the word is in chunk
	output int

	sent    int   // tokens
	t0, due int64 // ns since 1970
	firstAt int64
	lastAt  int64
	gaps    []int32 // us between writes, rounded
	err     error
	done    chan struct{}
}

func (s *stream) render(c config, id int64, chat bool, prompt int, usage bool) {
	created := time.Now().Unix()
	event := func(choices, tail string) string {
		object, prefix := "chat.completion.chunk", "chatcmpl"
		if !chat {
			object, prefix = "text_completion", "cmpl"
		}
		data := fmt.Sprintf(`data: {"id":"%s-%012d","object":"%s","created":%d,"model":"%s","choices":[%s]%s}`+"\n\n",
			prefix, id, object, created, c.model, choices, tail)
		return fmt.Sprintf("%x\r\n%s\r\n", len(data), data)
	}
	token := func(role, finish string) string {
		if chat {
			return event(fmt.Sprintf(`{"index":0,"delta":{%s"content":" %s"},"logprobs":null,"finish_reason":%s}`, role, words[0], finish), "")
		}
		return event(fmt.Sprintf(`{"index":0,"text":" %s","logprobs":null,"finish_reason":%s,"stop_reason":null}`, words[0], finish), "")
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n"
	role := `"role":"assistant",`
	if chat && c.role {
		head += event(`{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}`, "")
		role = ""
	}
	end := ""
	if usage {
		end = event("", fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d}`, prompt, prompt+s.output, s.output))
	}
	end += "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
	finish := "null"
	if s.output == 1 {
		finish = `"length"`
	}
	s.head = []byte(head)
	s.first = []byte(token(role, finish))
	s.chunk = []byte(token("", "null"))
	s.last = []byte(token("", `"length"`) + end)
	if s.output == 1 {
		s.first = append(s.first, end...)
	}
	s.word = bytes.Index(s.chunk, []byte(words[0]+`"`))
}

// next sends the token that is due, the headers with the first, and notes when. It says whether there are more.
func (s *stream) next() bool {
	b := s.chunk
	switch s.sent {
	case 0:
		b = append(s.head, s.first...)
	case s.output - 1:
		b = s.last
	default:
		copy(s.chunk[s.word:], words[s.sent%len(words)])
	}
	now := time.Now().UnixNano()
	s.err = s.write(b)
	if s.err != nil {
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

// write goes straight to the socket; a full buffer, which a client that reads never lets happen, makes it wait.
func (s *stream) write(b []byte) error {
	n, err := syscall.Write(s.fd, b)
	if n == len(b) {
		return nil
	}
	if err != nil && err != syscall.EAGAIN && err != syscall.EINTR {
		return err
	}
	blocked.Add(1)
	_, err = s.conn.Write(b[max(n, 0):])
	return err
}

// whole is an answer that is not streamed.
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
