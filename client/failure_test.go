package client

import (
	"encoding/json"
	"llmsweep/client/api"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Any bytes make a message: one line, short, of valid UTF-8.
func FuzzErrorText(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"m","param":"p"}}`, `{"detail":[{"loc":["body",1],"msg":"x"}]}`, `<title>t`, `{"error":`, `{"error":{"message":{"detail":[]}}}`,
		`{"detail":{"detail":{"detail":"x"}}}`, "\x00\xff", ""} {
		f.Add([]byte(s))
	}
	c := newCleaner(nil, nil, nil)
	f.Fuzz(func(t *testing.T, body []byte) {
		s := c.clean(api.ErrorText(body))
		if len(s) > maxMessage || !utf8.ValidString(s) || strings.ContainsAny(s, "\r\n\x00\x1b") {
			t.Errorf("%q", s)
		}
		if len(body) > 0 {
			whole(body)
		}
		if gjson.ValidBytes(body) != json.Valid(body) && len(body) < 1000 {
			t.Errorf("%q: the two checks differ", body)
		}
	})
}
