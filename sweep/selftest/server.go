package selftest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"
)

// Phases of streams that share an interval.
const (
	Uniform = "uniform" // spread evenly over it
	InStep  = "in_step" // all at once, as servers send that batch
)

// order is how the server shall answer a request, which it is the prompt of. The zero order is at once, as fast as the
// connection takes it.
type order struct {
	Phase   string        `json:"phase,omitempty"`
	Every   time.Duration `json:"every,omitempty"`   // from token to token
	Streams int           `json:"streams,omitempty"` // that begin together, when all are there
}

// String is the order as a prompt.
func (o order) String() string {
	b, err := json.Marshal(o)
	if err != nil { // of two numbers and a string
		panic(err)
	}
	return string(b)
}

// ask is what the server reads of a request.
type ask struct {
	Tokens    int `json:"max_tokens"`
	NewTokens int `json:"max_completion_tokens"`
	Messages  []struct {
		Content string `json:"content"`
	} `json:"messages"`
}

// read is what a request asks for.
func read(body io.Reader) (tokens int, o order, err error) {
	var a ask
	if err := json.NewDecoder(body).Decode(&a); err != nil {
		return 0, o, err
	}
	if len(a.Messages) != 1 {
		return 0, o, errors.New("not one message")
	}
	err = json.Unmarshal([]byte(a.Messages[0].Content), &o)
	return max(a.Tokens, a.NewTokens, 1), o, err
}

// digits is how long the instant in a chunk is: nanoseconds of the monotonic clock, zeros before them.
const digits = 19

const (
	head   = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	before = `data: {"id":"chatcmpl-selftest","object":"chat.completion.chunk","created":1700000000,"model":"selftest",` +
		`"choices":[{"index":0,"delta":{"content":"`
	after = `"},"logprobs":null,"finish_reason":null}]}` + "\n\n"
	last  = `data: {"id":"chatcmpl-selftest","object":"chat.completion.chunk","created":1700000000,"model":"selftest",` +
		`"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}],` +
		`"usage":{"prompt_tokens":1,"completion_tokens":%[1]d,"total_tokens":%[1]d}}` + "\n\ndata: [DONE]\n\n"
)

// chunked frames a part of a body.
func chunked(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// tail ends an answer of so many tokens.
func tail(tokens int) string { return chunked(fmt.Sprintf(last, tokens)) + "0\r\n\r\n" }

// tokenChunk is a chunk of one token, and where in it the instant stands.
func tokenChunk() (chunk []byte, at int) {
	chunk = []byte(chunked(before + string(bytes.Repeat([]byte("0"), digits)) + after))
	return chunk, bytes.Index(chunk, []byte(`"content":"`)) + len(`"content":"`)
}

// Serve is the server of known truth, on any port of the loopback: it says on out's first line where, and serves until in
// ends.
func Serve(in io.Reader, out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	debug.SetGCPercent(400)
	p := newPacer()
	defer close(p.quit)
	go p.run()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	if _, err := fmt.Fprintln(out, l.Addr()); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// serve answers one request after another. It speaks no more HTTP than it needs to.
func (p *pacer) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	var canned []byte // an answer that goes out at once
	length := 0
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		tokens, o, err := read(r.Body)
		if err != nil {
			return
		}
		io.Copy(io.Discard, r.Body)
		if o.Every > 0 {
			if p.stream(c, tokens, o) != nil {
				return
			}
			continue
		}
		if length != tokens {
			chunk, _ := tokenChunk()
			length = tokens
			canned = append(append([]byte(head), bytes.Repeat(chunk, tokens)...), tail(tokens)...)
		}
		if _, err := c.Write(canned); err != nil {
			return
		}
	}
}

// instant writes nanoseconds into digits places.
func instant(to []byte, nanos int64) {
	var b [digits]byte
	s := strconv.AppendInt(b[:0], nanos, 10)
	n := digits - len(s)
	for i := range n {
		to[i] = '0'
	}
	copy(to[n:digits], s)
}
