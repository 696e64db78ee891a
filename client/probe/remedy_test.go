package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
)

// closed is an address without a listener.
func closed(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

// status answers everything with one status and body.
func status(code int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		io.WriteString(w, strings.ReplaceAll(body, "KEY", r.Header.Get("Authorization")))
	})
}

// later adds a Retry-After to all answers.
func later(seconds int, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		h.ServeHTTP(w, r)
	})
}

// secure serves TLS.
func secure(t *testing.T, h http.Handler) string {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

// Every way for a preflight to fail is one line: what happened, to which URL, what to do.
func TestErrors(t *testing.T) {
	hung := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	many := make([]string, 12)
	for i := range many {
		many[i] = fmt.Sprintf(`{"id":"m%d"}`, i)
	}
	tests := map[string]struct {
		url  string
		o    client.Options
		kind kind
		want string // URL stands for the base
	}{
		"refused": {url: closed(t), kind: kindConnect,
			want: "URL/v1/models: connection refused. Is the server up? (llmsweep sweep sim: needs none)"},
		"no such name": {url: "http://no-such-host.invalid", kind: kindConnect,
			o: client.Options{Dial: func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.DNSError{Err: "no such host", Name: "no-such-host.invalid", IsNotFound: true}
			}},
			want: "URL/v1/models: no such host: no-such-host.invalid. Is the name spelled right, and can this machine resolve it?"},
		"unreachable": {url: "http://10.255.255.1", kind: kindConnect,
			o: client.Options{Dial: func(context.Context, string, string) (net.Conn, error) {
				return nil,
					errors.New("no route to host")
			}},
			want: "URL/v1/models: no route to host. Is the address right, and reachable from this machine?"},
		"unknown authority": {url: secure(t, status(200, "")), kind: kindTLS,
			want: "URL/v1/models: its certificate is not trusted: it is signed by itself. " +
				"Trust its authority with --ca FILE, or accept any certificate with --insecure."},
		"https to http": {url: strings.Replace(serve(t, status(200, "")), "http:", "https:", 1), kind: kindTLS,
			want: "URL/v1/models: the server does not speak TLS on this port. Use http:// in place of https://."},
		"http to https": {url: strings.Replace(secure(t, status(200, "")), "https:", "http:", 1), kind: kindTLS,
			want: "URL/v1/models: 400 Bad Request: Client sent an HTTP request to an HTTPS server. Use https:// in place of http://."},
		"401": {url: serve(t, status(401, `{"error":"bad key KEY"}`)), o: client.Options{APIKey: "sk-hunter2"},
			kind: kindAuth,
			want: "URL/v1/models: 401 Unauthorized: bad key [redacted]. Give a key that is valid here with --api-key or LLMSWEEP_API_KEY."},
		"403": {url: serve(t, status(403, "")), kind: kindAuth,
			want: "URL/v1/models: 403 Forbidden. Give a key that is valid here with --api-key or LLMSWEEP_API_KEY."},
		"404": {url: serve(t, http.NotFoundHandler()) + "/wrong", kind: kindNotFound,
			want: "URL/v1/models: 404 Not Found: 404 page not found. Is the base URL right? It is what comes before /v1, " +
				"such as http://localhost:8000. A server that lists no models needs --model."},
		"404 for the work": {url: serve(t, &fake{models: vllmModels}), kind: kindNotFound,
			want: "URL/v1/chat/completions: 404 Not Found: Not Found. Is the base URL right? It is what comes before /v1, such as http://localhost:8000."},
		"a web page": {url: serve(t, status(200, "<!DOCTYPE html><title>Grafana</title>")), kind: kindNotAPI,
			want: "URL/v1/models: this is a web page (HTML), not an API. Is that the server's base URL, and its API's port?"},
		"no JSON": {url: serve(t, status(200, "hello")), kind: kindNotAPI,
			want: "URL/v1/models: the answer is not JSON. Is that the server's base URL, and its API's port?"},
		"not HTTP": {url: greeting(t, "SSH-2.0-OpenSSH_9\r\n"), kind: kindNotAPI, want: "URL/v1/models: "},
		"redirect": {url: serve(t, http.RedirectHandler("https://elsewhere/v1/models", http.StatusPermanentRedirect)),
			kind: kindNotAPI,
			want: "URL/v1/models: 308 Permanent Redirect: redirects to https://elsewhere/v1/models; give that URL instead. " +
				"Is that the URL of the API, and not of a web page or another service?"},
		"no model": {url: serve(t, status(200, `{"data":[]}`)), kind: kindModel,
			want: "URL/v1/models: the server lists no model. Name one with --model."},
		"another model": {url: serve(t, status(200, `{"data":[{"id":"a"},{"id":"b"}]}`)),
			o: client.Options{Params: api.Params{Model: "c"}}, kind: kindModel,
			want: "URL/v1/models: no model c here. There are: a, b."},
		"many models": {url: serve(t, status(200, `{"data":[`+strings.Join(many, ",")+`]}`)),
			o: client.Options{Params: api.Params{Model: "c"}}, kind: kindModel,
			want: "URL/v1/models: no model c here. There are: m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 2 more."},
		"hung": {url: serve(t, hung), o: client.Options{Timeout: 50 * time.Millisecond}, kind: kindTimeout,
			want: "URL/v1/models: no answer within 50ms. Does the server hang (see its log)? If it is still loading its model, start again when it is ready."},
		"429": {url: serve(t, later(120, status(429, `{"detail":"quota"}`))), kind: kindBusy,
			want: "URL/v1/models: 429 Too Many Requests: quota (retry after 120). A rate limit is reached " +
				"(the preflight waits for up to 1m0s in all): keep below it with --max-rps and --max-tpm."},
		"503": {url: serve(t, later(120, status(503, `{"error":{"message":"Loading model"}}`))), kind: kindServer,
			want: "URL/v1/models: 503 Service Unavailable: Loading model (retry after 120). The preflight waits for up to 1m0s in all. " +
				"If it is still loading its model, start again when it is ready."},
		"endless": {url: serve(t, endless()), kind: kindNotAPI,
			want: "URL/v1/models: the answer was cut: it is longer than 8 MB. Is that the URL of the API, and not of a web page or another service?"},
		"a model that does not chat": {url: serve(t, &fake{models: `{"data":[{"id":"embed"},{"id":"chatter"}]}`,
			chat: func(a *asked) { refuse(a.w, 404, "This is not a chat model") }}), kind: kindNotFound,
			want: "URL/v1/chat/completions: 404 Not Found: This is not a chat model. " +
				"The model was embed, the first in the list: name one that chats with --model (chatter)."},
		"500 at work": {url: serve(t, &fake{models: vllmModels, chat: func(a *asked) { refuse(a.w, 500, "out of memory") }}),
			kind: kindServer,
			want: "URL/v1/chat/completions: 500 Internal Server Error: out of memory. The error is the server's: see its log. If it is still loading, wait."},
		"an error in the stream": {url: serve(t,
			&fake{models: vllmModels, chat: func(a *asked) {
				io.WriteString(a.w,
					"data: {\"error\":{\"message\":\"died.\"}}\n\n")
			}}), kind: kindServer,
			want: "URL/v1/chat/completions: died. The error is the server's: see its log. If it is still loading, wait."},
		"cut": {url: serve(t, &fake{models: vllmModels, chat: func(a *asked) { a.say("content", 1) }}), kind: kindServer,
			want: "URL/v1/chat/completions: the stream ended without a finish reason or terminator. The connection broke: see the log of the server, or of a proxy in front of it."},
		"no stream": {url: serve(t, &fake{models: vllmModels,
			chat: func(a *asked) { io.WriteString(a.w, `{"choices":[{"message":{"content":"yes"}}]}`) }}), kind: kindNoStream,
			want: "URL/v1/chat/completions: the server answers in one piece although it was asked to stream, so tokens have no times. " +
				"Use a server that streams, or make the proxy in front of it pass on \"stream\": true."},
		"refused for another reason": {url: serve(t,
			&fake{models: vllmModels, chat: func(a *asked) { refuse(a.w, 422, "temperature is missing") }}), kind: kindRefused,
			want: "URL/v1/chat/completions: 422 Unprocessable Entity: temperature is missing. The server rejects the request; --body changes its fields."},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := tt.o
			o.URL = tt.url
			_, err := prober(t, o).Preflight(t.Context(), Workload{})
			var e *Error
			if !errors.As(err, &e) || e.Kind != tt.kind {
				t.Fatalf("%v, kind %v", err, e)
			}
			got := strings.Replace(err.Error(), tt.url, "URL", 1)
			if got != tt.want && !(strings.HasSuffix(tt.want, ": ") && strings.HasPrefix(got, tt.want)) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
				t.Error(err)
			}
		})
	}
}

// endless is a list of models without an end.
func endless() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"data":[`)
		for _, err := io.WriteString(w, ""); err == nil; {
			_, err = io.WriteString(w, strings.Repeat(`{"id":"m"},`, 1000))
		}
	})
}

// greeting is a service that speaks first, and not HTTP.
func greeting(t *testing.T, words string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Read(make([]byte, 4096))
			io.WriteString(c, words)
			c.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

// An interrupted preflight is no fault of the server's.
func TestInterrupted(t *testing.T) {
	for _, path := range []string{"/v1/models", "/v1/chat/completions"} {
		ctx, cancel := context.WithCancel(t.Context())
		f := &fake{models: vllmModels, chat: forced(1)}
		url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == path {
				cancel()
				io.Copy(io.Discard, r.Body) // a server notices that its client is gone only after that
				<-r.Context().Done()
			}
			f.ServeHTTP(w, r)
		}))
		if _, err := prober(t, client.Options{URL: url}).Preflight(ctx, Workload{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// pipes is a network inside this process, so that time can be the bubble's.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	p <- far
	return near, nil
}

// A page that never comes costs its five seconds, and not the preflight.
func TestSlowPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{models: `{"data":[{"id":"m"}]}`, chat: forced(1)}
		network := make(pipes)
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/version" {
				<-r.Context().Done()
			}
			f.ServeHTTP(w, r)
		})}
		go s.Serve(network)
		defer s.Close()
		start := time.Now()
		p := prober(t, client.Options{URL: "server", Dial: network.dial})
		facts, err := p.Preflight(t.Context(), Workload{})
		p.Close()
		if err != nil || facts.Engine != "" || time.Since(start) != factTime {
			t.Errorf("%+v, %v after %v", facts, err, time.Since(start))
		}
	})
}

// The key goes with every question.
func TestKey(t *testing.T) {
	f := &fake{models: vllmModels, chat: forced(1), auth: "Bearer k",
		pages: map[string]string{"/version": `{"version":"1"}`}}
	facts, err := prober(t, client.Options{URL: serve(t, f), APIKey: "k"}).Preflight(t.Context(), Workload{})
	if err != nil || facts.Version != "1" {
		t.Errorf("%+v, %v", facts, err)
	}
}
