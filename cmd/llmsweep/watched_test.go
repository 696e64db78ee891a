package main

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	simserver "llmsweep/client/sim/server"
)

// watched keeps what a server is sent, when, and what it bills, which is read from its answers on their way.
type watched struct {
	http.Handler
	wait           time.Duration // of each body with max_tokens
	mu             sync.Mutex
	bodies         [][]byte
	at             []time.Time
	prompt, output int64
}

// watched starts a simulated server that is watched.
func (w *world) watched(o simserver.Options) (*watched, string) {
	w.t.Helper()
	server := &watched{Handler: w.simulated(o)}
	url, _ := w.server(server)
	return server, url
}

func (s *watched) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if len(body) > 0 {
		s.mu.Lock()
		s.bodies, s.at = append(s.bodies, body), append(s.at, time.Now())
		s.mu.Unlock()
		if gjson.GetBytes(body, "max_tokens").Int() > 0 {
			time.Sleep(s.wait)
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.Handler.ServeHTTP(&billed{w, s}, r)
}

// billed passes an answer on.
type billed struct {
	http.ResponseWriter
	by *watched
}

func (w *billed) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		if usage := gjson.GetBytes(bytes.TrimPrefix(line, []byte("data: ")), "usage"); usage.Get("total_tokens").Exists() {
			w.by.mu.Lock()
			w.by.prompt += usage.Get("prompt_tokens").Int()
			w.by.output += usage.Get("completion_tokens").Int()
			w.by.mu.Unlock()
		}
	}
	return w.ResponseWriter.Write(b)
}

func (w *billed) Flush() { w.ResponseWriter.(http.Flusher).Flush() }

func (w *billed) Unwrap() http.ResponseWriter { return w.ResponseWriter }
