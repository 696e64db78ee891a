package client

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"llmsweep/client/api"
)

// An address is where the API is, and where the rest of the server is.
func TestAddress(t *testing.T) {
	const h = "http://h:1/v1 http://h:1/"
	for in, want := range map[string]string{
		"localhost:8000":                           "http://localhost:8000/v1 http://localhost:8000/",
		" http://h:1/ ":                            h,
		"http://h:1/v1":                            h,
		"http://h:1/v1//":                          h,
		"http://h:1/v1/chat/completions":           h,
		"http://h:1/v1/completions/":               h,
		"http://h:1/v1/messages":                   h,
		"http://h:1/v1/models":                     h,
		"http://h:1/generate":                      h,
		"https://h/openai/v1":                      "https://h/openai/v1 https://h/openai/",
		"https://h/openai":                         "https://h/openai/v1 https://h/openai/",
		"https://h/api/paas/v4":                    "https://h/api/paas/v4 https://h/api/paas/",
		"https://h/v1beta/openai/chat/completions": "https://h/v1beta/openai https://h/v1beta/openai/",
		"https://me:pw@h/v1?api-version=7&key=s#x": "https://h/v1 https://h/",
		"[::1]:8000":                               "http://[::1]:8000/v1 http://[::1]:8000/",
		"[fe80::1%eth0]:8000/v1/":                  "http://[fe80::1%25eth0]:8000/v1 http://[fe80::1%25eth0]:8000/",
		"http://[fe80::1%25eth0]:8000":             "http://[fe80::1%25eth0]:8000/v1 http://[fe80::1%25eth0]:8000/",
	} {
		c, err := New(Options{URL: in})
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		api, rest, _ := strings.Cut(want, " ")
		if c.URL("/v1/models") != api+"/models" || c.Endpoint() != api+"/chat/completions" ||
			c.URL("/metrics") != rest+"metrics" {
			t.Errorf("%s: %s, %s, %s; want %s", in, c.URL("/v1/models"), c.Endpoint(), c.URL("/metrics"), want)
		}
	}
}

// An error about options is one line that says which option to change. It has no secret.
func TestWrongOptions(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	header := func(name, value string) Options { return Options{URL: "h", Headers: http.Header{name: {value}}} }
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{}, "no URL given; want something like http://localhost:8000"},
		{Options{URL: "http:///v1"}, "http:///v1 names no host; want something like http://localhost:8000"},
		{Options{URL: "ftp://u:hunter2@h"}, "ftp://h: ftp is not a scheme to benchmark over; want http:// or https://"},
		{Options{URL: "http://u:hunter2@h:80x"},
			`http://h:80x is not a URL (invalid port ":80x" after host); want something like http://localhost:8000`},
		{Options{URL: "http://h:11434/x/api/chat/"},
			"that path is Ollama's own API; use its OpenAI API: http://HOST:11434"},
		{Options{URL: "h:1/completion"}, "/completion is llama.cpp's own API; use its OpenAI API: the URL up to the port"},
		{Options{URL: "h:1/v2/models/m/generate_stream"}, "/generate_stream is TGI's or Triton's own API; " +
			"use the OpenAI API of TGI, or of Triton's OpenAI frontend: the URL up to the port"},
		{Options{URL: "http://h:1/v1/embeddings"},
			"that path answers without tokens; give the URL of an API that generates some"},
		{Options{URL: "h", API: "soap"},
			"--api soap: no such API; there are chat, completions, responses, messages, sglang"},
		{Options{URL: "h", Params: api.Params{Extra: []byte("[1]")}},
			`--body: not a JSON object; want something like {"top_p": 0.9}`},
		{Options{URL: "h", APIKey: "hunter\n2"},
			"--api-key: it contains a control character; was it pasted with a line break?"},
		{header("X Y", "hunter2"), `--header: "X Y" is not a header name; want letters, digits and dashes`},
		{header("X", "hunter2\r\nY: z"), "--header X: its value contains a control character"},
		{Options{URL: "h", CAFile: "/no/such.pem"}, "--ca: open /no/such.pem: no such file or directory"},
		{Options{URL: "h", CAFile: empty},
			"--ca " + empty + ": it has no certificate; want a PEM file (-----BEGIN CERTIFICATE-----)"},
	} {
		if _, err := New(tt.o); err == nil || err.Error() != tt.want || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

// A secret is never in a message, whatever the server does with it.
func TestSecrets(t *testing.T) {
	const key, header, query = "sk-Key/123+abc=", "tok \"en\" 789", "q-secret"
	o := Options{APIKey: key, Headers: http.Header{"X-Token": {header}, "Authorization-2": {"Basic dXNlcg=="},
		"User-Agent": {"shown"}}}
	for _, said := range []string{
		key + " " + header + " " + query + " p@ss w",
		`{"error":{"message":"bad key sk-Key\/123+abc= or tok \"en\" 789 for dXNlcg=="}}`,
		"sk-Key\x00/123+abc= tok\u200b \"en\" 789 q-\x7fsecret",
		"tok\n\"en\"\r\n789",
		"see https://user:p%40ss%20w@host/?key=sk-Key%2F123%2Babc%3D&x=q-secret",
		strings.Repeat("x", 290) + key,
		strings.Repeat(key, 200),
		key + key + header + key,
	} {
		for status, body := range map[int]string{401: said,
			200: "data: " + strings.NewReplacer("\n", " ", "\r", " ").Replace(said) + "\n\n"} {
			url := serveAnswer(t, status, "", body)
			o.URL = strings.Replace(url, "http://", "http://user:p%40ss%20w@", 1) + "/?key=" + query
			r := do(t, o)
			for _, secret := range []string{key, "Key/123", header, `"en"`, query, "p@ss", "dXNlcg", "123%2Babc", "%40ss"} {
				if strings.Contains(r.Message, secret) {
					t.Errorf("%q shows %s", r.Message, secret)
				}
			}
			if r.Status != StatusError || r.Message == "" {
				t.Errorf("%q: %s", said, summary(r))
			}
		}
	}
}

// A request for the most likely answer has none of the user's members that take another token.
func TestGreedyBody(t *testing.T) {
	c := newClient(t, Options{URL: "h", API: "chat",
		Params: api.Params{Model: "m", Fields: api.AllFields, Extra: []byte(`{"top_p":0.5,"user":"u"}`)}})
	r := *request24
	r.Greedy = true
	call, err := c.Prepare(&r)
	var body map[string]any
	if err != nil || json.Unmarshal(call.Body, &body) != nil {
		t.Fatal(err, string(call.Body))
	}
	_, top := body["top_p"]
	_, forced := body["ignore_eos"]
	if top || forced || body["temperature"] != 0.0 || body["user"] != "u" {
		t.Errorf("%s", call.Body)
	}
}

// An answer 101 to a question about the server is an error, though its connection stays open.
func TestFetchOfSwitchedProtocols(t *testing.T) {
	s := serveTCP(t, false, func(c *serverConn, _ int) bool {
		c.read()
		c.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"))
		c.in.ReadByte() // until the client goes
		return false
	})
	if _, err := newClient(t, Options{URL: s.url}).Fetch(t.Context(), time.Hour, "GET", "/metrics", nil); err == nil {
		t.Error("101 is an answer")
	}
}
