package client

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"llmsweep/client/api"
	"llmsweep/client/input"
	"llmsweep/client/redact"
	"llmsweep/client/testkit"
)

// Whatever is typed as a URL is an address or an error in one line. What is shown has no password and no query, and
// reads as the same address again.
func FuzzURL(f *testing.F) {
	for _, s := range []string{
		"", "localhost:8000", "http://h/v1/", "https://me:secret7@h:1/llm/v2/chat/completions?key=secret7",
		"unix:/run/x.sock", "unix:/x:/y/v1",
		"unix://x?token=secret7", "[::1]:80", "http://[fe80::1%eth0]:1/", "http://h/v2/models/m/generate_stream",
		"http://h/%2f/a b", "sim:", "::", "http://[", "http://h/v1/v1", "http://h/v1/generate", "unix://////x",
		"http://h/v1/v1/models",
	} {
		f.Add(s)
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, s string) {
		a, user, err := input.ParseAddress(s)
		if err != nil {
			if strings.HasPrefix(strings.TrimSpace(s), "http://me:secret7@") && strings.Contains(err.Error(), "secret7@") {
				t.Errorf("%q: %v", s, err)
			}
			return
		}
		shown := a.Show("")
		if bare, _, err := input.ParseAddress(withoutUser(s)); user != nil && (err != nil || bare.Show("") != shown) {
			t.Errorf("%q is shown as %q, and without its user as %q: %v", s, shown, bare.Show(""), err)
		}
		if strings.ContainsAny(shown, "\n\x00") {
			t.Errorf("%q is shown as %q", s, shown)
		}
		if strings.Count(s, ":/") > 1 || strings.ContainsAny(a.Socket, "?%\"{") || strings.ContainsAny(a.Base.Path, "cgm") ||
			strings.TrimSpace(shown) != shown {
			return // a path in a path, or an API's endpoint in another's
		}
		again, _, err := input.ParseAddress(shown)
		if err != nil {
			t.Fatalf("%q is shown as %q, which is no address: %v", s, shown, err)
		}
		if got := again.Show(""); got != shown {
			t.Errorf("%q is shown as %q, and that as %q", s, shown, got)
		}
		if _, err := url.Parse(a.Join("/v1/models").String()); err != nil {
			t.Errorf("%q asks %q: %v", s, a.Join("/v1/models"), err)
		}
	}))
}

// withoutUser removes the user and the password from a URL, so that what is shown cannot depend on them.
func withoutUser(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		scheme, rest = "http", s
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return scheme + "://" + rest[strings.LastIndexByte(rest[:end], '@')+1:]
}

// Whatever a server sends, a request ends in a class that exists, with instants in order.
func FuzzAnswer(f *testing.F) {
	whole := events("role A B finish usage [DONE]")
	for _, s := range []string{
		"", "HTTP/1.1 200 OK\r\n\r\n" + whole, chunkedHead + chunk(whole) + "0\r\n\r\n",
		"HTTP/1.0 200 OK\r\n\r\n" + whole[:99],
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ndata: {}\n",
		"HTTP/1.1 429 No\r\nRetry-After: 7\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + strings.Join(gzipParts(whole), ""),
		"HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n",
		"\x00\x00\x06\x04\x00\x00\x00\x00\x00", "\x15\x03\x01\x00\x02\x02\x46",
	} {
		f.Add(s)
	}
	classes := []Class{ClassConnect, ClassTimeout, ClassHTTP4xx, ClassRateLimited, ClassHTTP429, ClassHTTP5xx, ClassReset,
		ClassTruncated, ClassStreamError, ClassMalformed}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, answer string) {
		r := do(t, Options{URL: "http://server", Timeout: time.Minute, Dial: dialCanned(answer)})
		switch {
		case r.Status == StatusOK && r.Class == "" && r.End != Absent:
		case r.Status == StatusError && slices.Contains(classes, r.Class) && r.Message != "" &&
			!strings.ContainsAny(r.Message, "\n\r\x1b"):
		default:
			t.Errorf("status %q, class %q, message %q, end %v", r.Status, r.Class, r.Message, r.End)
		}
		if r.FirstToken != Absent && (r.FirstToken < 0 || r.LastToken < r.FirstToken || r.End < r.LastToken) {
			t.Errorf("first token %v, last %v, end %v", r.FirstToken, r.LastToken, r.End)
		}
	}))
}

// Any body gives a message of one short line of valid UTF-8.
func FuzzErrorText(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"m","param":"p"}}`, `{"detail":[{"loc":["body",1],"msg":"x"}]}`,
		`<title>t`, `{"error":`, `{"error":{"message":{"detail":[]}}}`, `{"detail":{"detail":{"detail":"x"}}}`,
		"\x00\xff", ""} {
		f.Add([]byte(s))
	}
	c := redact.NewCleaner(nil, nil, nil)
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, body []byte) {
		s := c.Clean(api.ErrorText(body))
		if len(s) > redact.MaxMessage || !utf8.ValidString(s) || strings.ContainsAny(s, "\r\n\x00\x1b") {
			t.Errorf("%q", s)
		}
		if len(body) > 0 {
			classifyUnstreamed(body)
		}
		if gjson.ValidBytes(body) != json.Valid(body) && len(body) < 1000 {
			t.Errorf("%q: the two checks differ", body)
		}
	}))
}
