// A server of known truth: it streams OpenAI chat and text completions, each token at a scheduled instant,
// and records when it sent each one. It does not compute, queue or batch. Whatever a load generator measures beyond that
// record is the generator's own doing. The self-test measures this client with it.
//
// Token k of an answer is due at t0 + TTFT + phase + k x ITL, t0 being when the kernel received the last byte of the request.
// A request whose prompt is an [Order] has a pace of its own.
//
//	GET /truth   what was sent since the start or the last reset, a Truth as JSON; ?last=N: of the last N requests
//	GET /raw     the same, one JSON line per request
//	GET /reset   forgets it

package selftest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The phases of streams, relative to each other.
const (
	PacedArrival = "arrival" // none: each stream follows its own arrival
	PacedUniform = "uniform" // spread evenly over the interval between two tokens
	PacedInStep  = "in_step" // all tokens at the same instants, as an engine sends them that batches
)

// PacedConfig is how a server answers requests.
type PacedConfig struct {
	TTFT, ITL time.Duration
	Phase     string
	Quantum   time.Duration // tokens that are due within this of each other are sent together
	Model     string
	RoleChunk bool // the role comes in a chunk before the first token, as vLLM sends it
	Tokens    int  // of an answer whose request asks for no number
}

// PacedServer is the server.
type PacedServer struct {
	PacedConfig
	clock pacedClock
	pacer *pacer
	truth *truth
}

// NewPaced returns a server; [Server.Serve] starts it.
func NewPaced(c PacedConfig) *PacedServer {
	clock := newPacedClock()
	t := newTruth(c, clock)
	return &PacedServer{PacedConfig: c, clock: clock, truth: t, pacer: newPacer(c, clock, t)}
}

// Serve answers connections until l is closed, and returns the error of that.
func (s *PacedServer) Serve(l net.Listener) error {
	go s.pacer.run()
	defer close(s.pacer.quit)
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go s.connection(c)
	}
}

// connection answers one request after another. It has just enough HTTP/1.1 of its own, because the pacer writes the chunks
// of an answer straight to the socket.
func (s *PacedServer) connection(c net.Conn) {
	defer c.Close()
	in, err := newSocket(c, &s.truth.counts)
	if err != nil {
		return
	}
	s.truth.counts.connections.Add(1)
	r := bufio.NewReaderSize(in, 8192)
	var b pacedBurst
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if req.Header.Get("Expect") == "100-continue" {
			io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
		}
		body, err := io.ReadAll(req.Body)
		if err != nil || !s.answer(in, req, body, &b) || req.Close {
			return
		}
	}
}

// answer reports whether the connection can go on.
func (s *PacedServer) answer(in *socket, req *http.Request, body []byte, b *pacedBurst) bool {
	switch path := strings.TrimSuffix(req.URL.Path, "/"); path {
	case "/v1/chat/completions", "/v1/completions":
		return s.complete(in, body, path == "/v1/chat/completions", b)
	case "/v1/models":
		return reply(in, 200, "application/json", fmt.Appendf(nil,
			`{"object":"list","data":[{"id":%q,"object":"model","created":1700000000,"owned_by":"paced","max_model_len":32768}]}`, s.Model))
	case "/health", "/ping":
		return reply(in, 200, "text/plain", nil)
	case "/truth":
		last, _ := strconv.Atoi(req.URL.Query().Get("last"))
		truth, err := json.MarshalIndent(s.Truth(last), "", " ")
		if err != nil {
			return false
		}
		return reply(in, 200, "application/json", append(truth, '\n'))
	case "/raw":
		return reply(in, 200, "application/jsonl", s.truth.raw())
	case "/reset":
		s.truth.reset()
		return reply(in, 200, "text/plain", nil)
	}
	return reply(in, 404, "application/json", []byte(`{"error":{"message":"not found","type":"not_found","code":404}}`))
}

// reply writes a whole response and reports whether that succeeded.
func reply(w io.Writer, status int, kind string, body []byte) bool {
	head := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		status, http.StatusText(status), kind, len(body))
	_, err := w.Write(append(head, body...))
	return err == nil
}

// complete answers a completion request.
func (s *PacedServer) complete(in *socket, body []byte, chat bool, b *pacedBurst) bool {
	t0 := s.clock.Now() - int64(time.Since(in.at))
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return reply(in, 400, "application/json", fmt.Appendf(nil, `{"error":{"message":%q}}`, err.Error()))
	}
	prompt, output := r.tokens(s.Tokens)
	order, ordered := r.order()
	switch {
	case ordered && order.Every == 0:
		return in.write(b.of(s.Model, output)) == nil
	case !r.Stream:
		time.Sleep(s.TTFT + time.Duration(output-1)*s.ITL)
		return reply(in, 200, "application/json", whole(s.Model, chat, prompt, output))
	}
	st := &stream{socket: in, output: output, t0: t0, every: s.ITL, gaps: make([]int32, 0, output-1), done: make(chan struct{})}
	if ordered {
		st.every, st.order, st.instants = order.Every, order, true
	}
	st.render(format{model: s.Model, id: s.truth.nextID(), chat: chat, roleChunk: s.RoleChunk, usage: r.StreamOptions.IncludeUsage}, prompt)
	return s.pacer.serve(st) == nil
}

// pacedBurst is an answer that is sent at once, kept for the next request of its connection.
type pacedBurst struct {
	tokens int
	answer []byte
}

func (b *pacedBurst) of(model string, tokens int) []byte {
	if b.tokens != tokens {
		st := stream{output: tokens, instants: true}
		st.render(format{model: model, chat: true, usage: true}, 1)
		b.tokens, b.answer = tokens, st.first.bytes
		if tokens > 1 {
			b.answer = append(append(b.answer, bytes.Repeat(st.middle.bytes, tokens-2)...), st.last.bytes...)
		}
	}
	return b.answer
}
