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
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/testkit"
)

// closed is an address without a listener.
func closed(t *testing.T) string {
	s := httptest.NewServer(nil)
	s.Close()
	return s.URL
}

// status answers everything with one status, body, and header: NAME: VALUE, or empty.
func status(code int, body, header string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(code)
		io.WriteString(w, strings.ReplaceAll(body, "KEY", r.Header.Get("Authorization")))
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
	says := func(code int, body, header string) string { return serve(t, status(code, body, header)) }
	chats := func(chat func(*asked)) string { return serve(t, &fake{models: vllmModels, chat: chat}) }
	refuses := func(code int, message string) string { return chats(func(a *asked) { refuse(a.w, code, message) }) }
	noDial := func(err error) client.Options {
		return client.Options{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, err }}
	}
	model := func(name string) client.Options { return client.Options{Params: api.Params{Model: name}} }
	var none client.Options
	const (
		key     = " Give a key that is valid here with --api-key or LLMSWEEP_API_KEY."
		base    = " Is the base URL right? It is what comes before /v1, such as http://localhost:8000."
		service = " Is that the URL of the API, and not of a web page or another service?"
		port    = " Is that the server's base URL, and its API's port?"
		log     = " The error is the server's: see its log. If it is still loading, wait."
		reject  = " The server rejects the request; --body changes its fields."
		models  = "URL/v1/models: "
		chat    = "URL/v1/chat/completions: "
	)
	for _, tt := range []struct {
		url  string
		o    client.Options
		kind kind
		want string // URL stands for the base
	}{
		{closed(t), none, kindConnect,
			models + "connection refused. Is the server up? (llmsweep sweep sim: needs none)"},
		{"http://none.invalid", noDial(&net.DNSError{Err: "no such host", Name: "none.invalid", IsNotFound: true}),
			kindConnect,
			models + "no such host: none.invalid. Is the name spelled right, and can this machine resolve it?"},
		{"http://10.255.255.1", noDial(errors.New("no route to host")), kindConnect,
			models + "no route to host. Is the address right, and reachable from this machine?"},
		{secure(t, status(200, "", "")), none, kindTLS, models + "its certificate is not trusted: it is signed by itself. " +
			"Trust its authority with --ca FILE, or accept any certificate with --insecure."},
		{strings.Replace(says(200, "", ""), "http:", "https:", 1), none, kindTLS,
			models + "the server does not speak TLS on this port. Use http:// in place of https://."},
		{strings.Replace(secure(t, status(200, "", "")), "https:", "http:", 1), none, kindTLS,
			models + "400 Bad Request: Client sent an HTTP request to an HTTPS server. Use https:// in place of http://."},
		{says(401, `{"error":"bad key KEY"}`, ""), client.Options{APIKey: "sk-hunter2"}, kindAuth,
			models + "401 Unauthorized: bad key [redacted]." + key},
		{says(403, "", ""), none, kindAuth, models + "403 Forbidden." + key},
		{serve(t, http.NotFoundHandler()) + "/wrong", none, kindNotFound,
			models + "404 Not Found: 404 page not found." + base + " A server that lists no models needs --model."},
		{serve(t, &fake{models: vllmModels}), none, kindNotFound, chat + "404 Not Found: Not Found." + base},
		{says(200, "<!DOCTYPE html><title>Grafana</title>", ""), none, kindNotAPI,
			models + "this is a web page (HTML), not an API." + port},
		{says(200, "hello", ""), none, kindNotAPI, models + "the answer is not JSON." + port},
		{greeting(t, "SSH-2.0-OpenSSH_9\r\n"), none, kindNotAPI, models},
		{says(308, "", "Location: https://elsewhere/v1/models"), none, kindNotAPI, models +
			"308 Permanent Redirect: redirects to https://elsewhere/v1/models; give that URL instead." + service},
		{says(200, `{"data":[]}`, ""), none, kindModel, models + "the server lists no model. Name one with --model."},
		{says(200, `{"data":[{"id":"a"},{"id":"b"}]}`, ""), model("c"), kindModel,
			models + "no model c here. There are: a, b."},
		{says(200, `{"data":[`+strings.Join(many, ",")+`]}`, ""), model("c"), kindModel,
			models + "no model c here. There are: m0, m1, m2, m3, m4, m5, m6, m7, m8, m9 and 2 more."},
		{serve(t, hung), client.Options{Timeout: 50 * time.Millisecond}, kindTimeout, models + "no answer within 50ms. " +
			"Does the server hang (see its log)? If it is still loading its model, start again when it is ready."},
		{says(429, `{"detail":"quota"}`, "Retry-After: 120"), none, kindBusy,
			models + "429 Too Many Requests: quota (retry after 120). A rate limit is reached " +
				"(the preflight waits for up to 1m0s in all): keep below it with --max-rps and --max-tpm."},
		{says(503, `{"error":{"message":"Loading model"}}`, "Retry-After: 120"), none, kindServer,
			models + "503 Service Unavailable: Loading model (retry after 120). The preflight waits for up to 1m0s in all. " +
				"If it is still loading its model, start again when it is ready."},
		{serve(t, endless()), none, kindNotAPI, models + "the answer was cut: it is longer than 8 MB." + service},
		{serve(t, &fake{models: `{"data":[{"id":"embed"},{"id":"chatter"}]}`,
			chat: func(a *asked) { refuse(a.w, 404, "This is not a chat model") }}), none, kindNotFound,
			chat + "404 Not Found: This is not a chat model. The model was embed, the first in the list: " +
				"name one that chats with --model (chatter)."},
		{refuses(500, "out of memory"), none, kindServer, chat + "500 Internal Server Error: out of memory." + log},
		{chats(func(a *asked) { io.WriteString(a.w, "data: {\"error\":{\"message\":\"died.\"}}\n\n") }), none, kindServer,
			chat + "died." + log},
		{chats(func(a *asked) { a.say("content", 1) }), none, kindServer,
			chat + "the stream ended without a finish reason or terminator. " +
				"The connection broke: see the log of the server, or of a proxy in front of it."},
		{chats(func(a *asked) { io.WriteString(a.w, `{"choices":[{"message":{"content":"yes"}}]}`) }), none, kindNoStream,
			chat + "the server answers in one piece although it was asked to stream, so tokens have no times. " +
				"Use a server that streams, or make the proxy in front of it pass on \"stream\": true."},
		{refuses(422, "temperature is missing"), none, kindRefused,
			chat + "422 Unprocessable Entity: temperature is missing." + reject},
	} {
		tt.o.URL = tt.url
		_, err := prober(t, tt.o).Preflight(t.Context(), Workload{})
		var e *Error
		if !errors.As(err, &e) || e.Kind != tt.kind {
			t.Errorf("%v, kind %v; want %s, %s", err, e, tt.kind, tt.want)
			continue
		}
		got := strings.Replace(err.Error(), tt.url, "URL", 1)
		if got != tt.want && !(strings.HasSuffix(tt.want, ": ") && strings.HasPrefix(got, tt.want)) {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
		if strings.Contains(got, "hunter2") || strings.Contains(got, "\n") {
			t.Error(err)
		}
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

// A page that never comes costs its five seconds, and not the preflight.
func TestSlowPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{models: `{"data":[{"id":"m"}]}`, chat: forced(1)}
		dial := testkit.ServePipes(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/version" {
				<-r.Context().Done()
			}
			f.ServeHTTP(w, r)
		}))
		start := time.Now()
		p := prober(t, client.Options{URL: "server", Dial: dial})
		facts, err := p.Preflight(t.Context(), Workload{})
		p.Close()
		if err != nil || facts.Engine != "" || time.Since(start) != factTime {
			t.Errorf("%+v, %v after %v", facts, err, time.Since(start))
		}
	})
}
