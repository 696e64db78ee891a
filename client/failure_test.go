package client

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"llmsweep/client/api"
	"llmsweep/client/redact"
	"llmsweep/client/testkit"
)

// Any body gives a message of one short line of valid UTF-8.
func FuzzErrorText(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"m","param":"p"}}`, `{"detail":[{"loc":["body",1],"msg":"x"}]}`,
		`<title>t`, `{"error":`, `{"error":{"message":{"detail":[]}}}`,
		`{"detail":{"detail":{"detail":"x"}}}`, "\x00\xff", ""} {
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
