package selftest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
)

const model = "selftest"

// Serve runs the server on a free port of the loopback interface. It writes its address on the first line of out and
// serves until in ends.
func Serve(in io.Reader, out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	debug.SetGCPercent(400)
	go serveAll(l) // until l is closed
	if _, err := fmt.Fprintln(out, l.Addr()); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

func serveAll(l net.Listener) error {
	p := newPacer(newPacedClock())
	go p.run()
	defer close(p.quit)
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go serveConn(c, p)
	}
}

// serveConn answers one request after another. It has just enough HTTP/1.1 of its own, because the pacer writes the
// chunks of an answer straight to the socket.
func serveConn(c net.Conn, p *pacer) {
	defer c.Close()
	out, err := newSocket(c)
	if err != nil {
		return
	}
	r := bufio.NewReaderSize(c, 8192)
	var b burstAnswer
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err == nil {
			err = answer(out, body, p, &b)
		}
		if err != nil || req.Close {
			return
		}
	}
}

func answer(out *socket, body []byte, p *pacer, b *burstAnswer) error {
	var r struct {
		Messages  []struct{ Content string }
		MaxTokens int `json:"max_tokens"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	if len(r.Messages) == 0 || r.MaxTokens < 1 {
		return errors.New("no message, or no length")
	}
	var o order
	text, ok := strings.CutPrefix(r.Messages[len(r.Messages)-1].Content, orderMark)
	if !ok {
		return errors.New("not an order")
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	if o.Every == 0 {
		return out.write(b.bytes(r.MaxTokens))
	}
	s := &stream{socket: out, order: o, output: r.MaxTokens, done: make(chan struct{})}
	s.render()
	return p.serve(s)
}

// burstAnswer is an answer that is sent at once, kept for the next request of its connection.
type burstAnswer struct {
	tokens int
	answer []byte
}

func (b *burstAnswer) bytes(tokens int) []byte {
	if b.tokens != tokens {
		s := stream{output: tokens}
		s.render()
		b.tokens, b.answer = tokens, append([]byte{}, s.first.bytes...)
		for i := 1; i < tokens; i++ {
			part := &s.middle
			if i == tokens-1 {
				part = &s.last
			}
			b.answer = append(b.answer, part.bytes...)
		}
	}
	return b.answer
}

// order is a prompt that says how it shall be answered. The text of each token is then the instant at which it was
// sent: instantDigits digits, nanoseconds of the monotonic clock (see [pacedClock]).
type order struct {
	Phase string `json:"phase,omitempty"`
	// from token to token; 0 sends the whole answer at once, without instants
	Every   time.Duration `json:"every,omitempty"`
	Streams int           `json:"streams,omitempty"` // that begin together, once the requests for all of them have arrived
}

const orderMark = "paced: "

// String returns the order as a prompt.
func (o order) String() string {
	b, err := json.Marshal(o)
	if err != nil { // two numbers and a string always marshal
		panic(err)
	}
	return orderMark + string(b)
}
