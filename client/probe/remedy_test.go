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

// failing are servers that a status and a body do not describe.
func failing(t *testing.T) map[string]client.Options {
	page := status(200, "", "")
	plain, overTLS := serve(t, page), secure(t, page)
	noDial := func(url string, err error) client.Options {
		return client.Options{URL: url, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, err }}
	}
	hung := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	embed := &fake{models: `{"data":[{"id":"embed"},{"id":"chatter"}]}`,
		chat: func(a *asked) { refuse(a.w, 404, "This is not a chat model") }}
	return map[string]client.Options{
		"closed":                {URL: closed(t)},
		"unknown host":          noDial("http://none.invalid", &net.DNSError{Name: "none.invalid", IsNotFound: true}),
		"no route":              noDial("http://10.255.255.1", errors.New("no route to host")),
		"self-signed":           {URL: overTLS},
		"TLS to a plain server": {URL: strings.Replace(plain, "http:", "https:", 1)},
		"plain to a TLS server": {URL: strings.Replace(overTLS, "https:", "http:", 1)},
		"a wrong path":          {URL: serve(t, http.NotFoundHandler()) + "/wrong"},
		"no chat":               {URL: serve(t, &fake{models: vllmModels})},
		"SSH":                   {URL: greeting(t, "SSH-2.0-OpenSSH_9\r\n")},
		"hung":                  {URL: serve(t, hung), Timeout: 50 * time.Millisecond},
		"an endless list":       {URL: serve(t, endless())},
		"embed before chatter":  {URL: serve(t, embed)},
	}
}

func TestErrors(t *testing.T) {
	servers := failing(t)
	testkit.CheckCases(t, "errors.txt", func(t *testing.T, text string, _ bool) string {
		name, body, _ := strings.Cut(strings.TrimSuffix(text, "\n"), "\n")
		o, ok := servers[name]
		if !ok {
			rest, isChat := strings.CutPrefix(name, "chat ")
			rest, o.Params.Model, _ = strings.Cut(rest, " --model ")
			code, header, _ := strings.Cut(rest, " ")
			n, err := strconv.Atoi(code)
			if err != nil {
				t.Fatal(err)
			}
			o.URL, o.APIKey = serve(t, status(n, body, header)), "sk-hunter2"
			if isChat {
				o.URL = serve(t, &fake{models: vllmModels, chat: func(a *asked) { status(n, body, "").ServeHTTP(a.w, a.r) }})
			}
		}
		_, err := prober(t, o).Preflight(t.Context(), Workload{})
		var e *Error
		if !errors.As(err, &e) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
			return ""
		}
		if name == "SSH" { // what of it comes first is chance
			return fmt.Sprintf("  %s\n", e.Kind)
		}
		return fmt.Sprintf("  %s: %s\n", e.Kind, strings.Replace(err.Error(), o.URL, "URL", 1))
	})
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
