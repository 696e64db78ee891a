//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

type server struct {
	config
	pacer *pacer
	truth *truth
}

// connection serves one, request after request. It speaks just enough HTTP/1.1 by itself: the answer's chunks are
// written by the pacer, straight to the socket.
func (s *server) connection(c *net.TCPConn) {
	defer c.Close()
	in, err := newStamped(c)
	if err != nil {
		log.Print(err)
		return
	}
	s.truth.connections.Add(1)
	r := bufio.NewReaderSize(in, 8192)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if req.Header.Get("Expect") == "100-continue" {
			io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
		}
		body, err := io.ReadAll(req.Body)
		if err != nil || !s.answer(in, req, body) || req.Close {
			return
		}
	}
}

// answer says whether the connection can go on.
func (s *server) answer(in *stamped, req *http.Request, body []byte) bool {
	switch path := strings.TrimSuffix(req.URL.Path, "/"); path {
	case "/v1/chat/completions", "/v1/completions":
		return s.complete(in, body, path == "/v1/chat/completions")
	case "/v1/models":
		return reply(in.conn, 200, "application/json", fmt.Appendf(nil,
			`{"object":"list","data":[{"id":%q,"object":"model","created":1700000000,"owned_by":"paced","max_model_len":32768}]}`, s.model))
	case "/health", "/ping":
		return reply(in.conn, 200, "text/plain", nil)
	case "/truth":
		last, _ := strconv.Atoi(req.URL.Query().Get("last"))
		return reply(in.conn, 200, "application/json", s.truth.summary(last))
	case "/raw":
		return reply(in.conn, 200, "application/jsonl", s.truth.raw())
	case "/reset":
		s.truth.reset()
		return reply(in.conn, 200, "text/plain", nil)
	}
	return reply(in.conn, 404, "application/json", []byte(`{"error":{"message":"not found","type":"not_found","code":404}}`))
}

func reply(w io.Writer, status int, kind string, body []byte) bool {
	head := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		status, http.StatusText(status), kind, len(body))
	_, err := w.Write(append(head, body...))
	return err == nil
}

// request is what the server heeds of a body.
type request struct {
	Messages []struct {
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	Stream              bool            `json:"stream"`
	MaxTokens           int             `json:"max_tokens"`
	MaxCompletionTokens int             `json:"max_completion_tokens"`
	MinTokens           int             `json:"min_tokens"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// tokens of the prompt, at four characters each, and of the answer, which always has its full length.
func (r *request) tokens(otherwise int) (prompt, output int) {
	n := len(r.Prompt)
	for _, m := range r.Messages {
		n += len(m.Content)
	}
	output = max(r.MaxTokens, r.MaxCompletionTokens, r.MinTokens)
	if output == 0 {
		output = otherwise
	}
	return max(1, (n+3)/4), output
}

func (s *server) complete(in *stamped, body []byte, chat bool) bool {
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return reply(in.conn, 400, "application/json", fmt.Appendf(nil, `{"error":{"message":%q}}`, err.Error()))
	}
	prompt, output := r.tokens(s.tokens)
	if !r.Stream {
		time.Sleep(s.ttft + time.Duration(output-1)*s.itl)
		return reply(in.conn, 200, "application/json", whole(s.model, chat, prompt, output))
	}
	st := &stream{
		conn: in.conn, fd: in.fd, output: output, t0: in.at,
		gaps: make([]int32, 0, output-1), done: make(chan struct{}),
	}
	st.render(s.config, s.truth.next(), chat, prompt, r.StreamOptions.IncludeUsage)
	s.pacer.add(st)
	<-st.done
	return st.err == nil
}
