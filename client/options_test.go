package client

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/api"
)

func TestAddress(t *testing.T) {
	for in, want := range map[string][3]string{ // what is asked for: models, chat, metrics
		"localhost:8000": {"http://localhost:8000/v1/models",
			"http://localhost:8000/v1/chat/completions", "http://localhost:8000/metrics"},
		" http://h:1/ ": {"http://h:1/v1/models", "http://h:1/v1/chat/completions",
			"http://h:1/metrics"},
		"http://h:1/v1": {"http://h:1/v1/models", "http://h:1/v1/chat/completions",
			"http://h:1/metrics"},
		"http://h:1/v1//": {"http://h:1/v1/models", "http://h:1/v1/chat/completions",
			"http://h:1/metrics"},
		"http://h:1/v1/chat/completions": {"http://h:1/v1/models", "http://h:1/v1/chat/completions",
			"http://h:1/metrics"},
		"http://h:1/v1/completions/": {"http://h:1/v1/models", "http://h:1/v1/chat/completions",
			"http://h:1/metrics"},
		"http://h:1/v1/models": {"http://h:1/v1/models", "http://h:1/v1/chat/completions",
			"http://h:1/metrics"},
		"https://h/openai/v1": {"https://h/openai/v1/models", "https://h/openai/v1/chat/completions",
			"https://h/openai/metrics"},
		"https://h/openai": {"https://h/openai/v1/models", "https://h/openai/v1/chat/completions",
			"https://h/openai/metrics"},
		"https://h/api/paas/v4": {"https://h/api/paas/v4/models",
			"https://h/api/paas/v4/chat/completions", "https://h/api/paas/metrics"},
		"https://h/v1beta/openai/chat/completions": {"https://h/v1beta/openai/models",
			"https://h/v1beta/openai/chat/completions", "https://h/v1beta/openai/metrics"},
		"https://me:pw@h/v1?api-version=7&key=s#x": {"https://h/v1/models", "https://h/v1/chat/completions",
			"https://h/metrics"},
		"http://h:1/generate": {"http://h:1/v1/models", "http://h:1/v1/chat/completions", "http://h:1/metrics"},
		"[::1]:8000": {"http://[::1]:8000/v1/models", "http://[::1]:8000/v1/chat/completions",
			"http://[::1]:8000/metrics"},
	} {
		c, err := New(Options{URL: in})
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if d := cmp.Diff(want, [3]string{c.URL("/v1/models"), c.Endpoint(), c.URL("/metrics")}); d != "" {
			t.Errorf("%s: -want +got\n%s", in, d)
		}
	}
}

// An error about options is one line that says which option to change. It has no secret.
func TestWrongOptions(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		o    Options
		want string
	}{
		"no URL": {Options{}, "no URL given; want something like http://localhost:8000"},
		"no host": {Options{URL: "http:///v1"},
			"http:///v1 names no host; want something like http://localhost:8000"},
		"scheme": {Options{URL: "ftp://u:hunter2@h"},
			"ftp://h: ftp is not a scheme to benchmark over; want http:// or https://"},
		"port": {Options{URL: "http://u:hunter2@h:80x"},
			`http://h:80x is not a URL (invalid port ":80x" after host); want something like http://localhost:8000`},
		"Ollama's API": {Options{URL: "http://h:11434/x/api/chat/"},
			"that path is Ollama's own API; use its OpenAI API: http://HOST:11434"},
		"llama.cpp's API": {Options{URL: "h:1/completion"},
			"/completion is llama.cpp's own API; use its OpenAI API: the URL up to the port"},
		"Triton's API": {Options{URL: "h:1/v2/models/m/generate_stream"},
			"/generate_stream is TGI's or Triton's own API; use the OpenAI API of TGI, or of Triton's OpenAI frontend: the URL up to the port"},
		"no tokens": {Options{URL: "http://h:1/v1/embeddings"},
			"that path answers without tokens; give the URL of an API that generates some"},
		"API": {Options{URL: "h", API: "soap"},
			"--api soap: no such API; there are chat, completions, responses, messages, sglang"},
		"body": {Options{URL: "h", Params: api.Params{Extra: []byte("[1]")}},
			`--body: not a JSON object; want something like {"top_p": 0.9}`},
		"key": {Options{URL: "h", APIKey: "hunter\n2"},
			"--api-key: it contains a control character; was it pasted with a line break?"},
		"header": {Options{URL: "h", Headers: http.Header{"X Y": {"hunter2"}}},
			`--header: "X Y" is not a header name; want letters, digits and dashes`},
		"its value": {Options{URL: "h", Headers: http.Header{"X": {"hunter2\r\nY: z"}}},
			"--header X: its value contains a control character"},
		"no CA file": {Options{URL: "h", CAFile: "/no/such.pem"}, "--ca: open /no/such.pem: no such file or directory"},
		"empty CA": {Options{URL: "h", CAFile: empty}, "--ca " + empty +
			": it has no certificate; want a PEM file (-----BEGIN CERTIFICATE-----)"},
	} {
		_, err := New(tt.o)
		if err == nil || err.Error() != tt.want || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v\nwant %s", name, err, tt.want)
		}
	}
}

// A secret is never in a message, whatever the server does with it.
func TestSecrets(t *testing.T) {
	const key, header, query = "sk-Key/123+abc=", "tok \"en\" 789", "q-secret"
	o := Options{APIKey: key, Headers: http.Header{"X-Token": {header}, "Authorization-2": {"Basic dXNlcg=="},
		"User-Agent": {"shown"}}}
	for name, said := range map[string]string{
		"plain":        key + " " + header + " " + query + " p@ss w",
		"in JSON":      `{"error":{"message":"bad key sk-Key\/123+abc= or tok \"en\" 789 for dXNlcg=="}}`,
		"split":        "sk-Key\x00/123+abc= tok\u200b \"en\" 789 q-\x7fsecret",
		"over lines":   "tok\n\"en\"\r\n789",
		"in a URL":     "see https://user:p%40ss%20w@host/?key=sk-Key%2F123%2Babc%3D&x=q-secret",
		"at the edge":  strings.Repeat("x", 290) + key,
		"repeated":     strings.Repeat(key, 200),
		"one in other": key + key + header + key,
	} {
		t.Run(name, func(t *testing.T) {
			for status, body := range map[int]string{401: said, 200: "data: " + strings.NewReplacer("\n", " ", "\r",
				" ").Replace(said) + "\n\n"} {
				url := serveAnswer(t, status, map[string]string{}, body)
				o.URL = strings.Replace(url, "http://", "http://user:p%40ss%20w@", 1) + "/?key=" + query
				r := do(t, t.Context(), o)
				for _, secret := range []string{key, "Key/123", header, `"en"`, query, "p@ss", "dXNlcg", "123%2Babc", "%40ss"} {
					if strings.Contains(r.Message, secret) {
						t.Errorf("%q shows %s", r.Message, secret)
					}
				}
				if r.Status != StatusError || r.Message == "" {
					t.Errorf("%+v", r)
				}
			}
		})
	}
}
