package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"llmsweep/client/api"
	"llmsweep/client/testkit"
)

// An address is where the API is, and where the rest of the server is. An error is one line that says which option to
// change, and has no secret.
func TestOptions(t *testing.T) {
	testkit.CheckCases(t, "options.txt", func(t *testing.T, text string, _ bool) string {
		options, body, _ := strings.Cut(text, "\n")
		var o Options
		if err := json.Unmarshal([]byte(options), &o); err != nil {
			t.Fatal(err, options)
		}
		o.Params.Extra = []byte(strings.TrimSpace(body))
		c, err := New(o)
		if err == nil {
			return fmt.Sprintf("  %s %s %s\n", c.URL("/v1/models"), c.Endpoint(), c.URL("/metrics"))
		}
		if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
			t.Error(err)
		}
		return fmt.Sprintf("  error: %v\n", err)
	})
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
