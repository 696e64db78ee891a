package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"llmsweep/client/input"
)

// Redacted stands for a secret in messages and in run.json.
const Redacted = "[redacted]"

// MaxMessage is the longest message, in bytes.
const MaxMessage = 300

// minLongSecret is the length, in bytes, from which a secret is not part of a name by chance, as the value of
// "X-Priority: 1" is.
const minLongSecret = 8

// publicHeaders are shown. Any other is treated as a secret, because redacting too much costs little.
var publicHeaders = []string{"Accept", "Accept-Language", "Anthropic-Version", "Cache-Control", "Content-Type", "Host",
	"User-Agent"}

// Cleaner makes messages one line, without secrets, and not too long.
type Cleaner struct {
	secrets *strings.Replacer
	Long    *strings.Replacer // of secrets too long to be part of a word by chance
}

// NewCleaner returns a cleaner for the secrets in a client's headers, and in its URLs' query and user information.
func NewCleaner(headers http.Header, query url.Values, users ...*url.Userinfo) Cleaner {
	var secrets []string
	for name, values := range headers {
		if slices.Contains(publicHeaders, name) {
			continue
		}
		for _, v := range values {
			secrets = append(secrets, v)
			if _, token, ok := strings.Cut(v, " "); ok { // "Bearer sk-..."
				secrets = append(secrets, token)
			}
		}
	}
	for _, values := range query {
		secrets = append(secrets, values...)
	}
	for _, user := range users { // of the server and of the proxy
		if password, ok := user.Password(); ok {
			secrets = append(secrets, password)
		} else if user != nil {
			secrets = append(secrets, user.Username()) // https://TOKEN@host
		}
	}
	for _, s := range slices.Clone(secrets) {
		secrets = append(secrets, encodings(s)...)
	}
	long := slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return len(s) < minLongSecret })
	return Cleaner{replacer(secrets), replacer(long)}
}

// encodings returns a secret as servers and proxies write it: in URLs, base64, JSON within text, and HTML.
func encodings(s string) []string {
	all := []string{url.QueryEscape(s), url.PathEscape(s), html.EscapeString(s)}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		encoded := e.EncodeToString([]byte(s))
		all = append(all, encoded, strings.TrimRight(encoded, "="))
	}
	quoted, _ := json.Marshal(s)
	inner := string(quoted[1 : len(quoted)-1])
	all = append(all, inner, strings.ReplaceAll(inner, "/", `\/`), strings.ReplaceAll(s, `"`, `\"`))
	for _, e := range all[:2] {
		all = append(all, lowerEscapes(e))
	}
	return all
}

func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], strings.ToLower(s[i+1:i+3]))
		}
	}
	return string(b)
}

// replacer puts longer secrets first, because they may contain shorter ones.
func replacer(secrets []string) *strings.Replacer {
	for i, s := range secrets {
		secrets[i] = OneLine(s) // messages are searched in this form
	}
	slices.SortFunc(secrets, func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})
	secrets = slices.Compact(secrets)
	var pairs []string
	for _, s := range secrets {
		if s != "" {
			pairs = append(pairs, s, Redacted)
		}
	}
	return strings.NewReplacer(pairs...)
}

// Clean makes s one line without secrets. It removes control characters first, because they could hide a secret, and
// shortens last, because half a secret would not be recognised.
func (c Cleaner) Clean(s string) string {
	return Shorten(c.secrets.Replace(input.WithoutUser(OneLine(s))))
}

// Shorten cuts a text to [MaxMessage].
func Shorten(s string) string {
	if len(s) <= MaxMessage {
		return s
	}
	n := MaxMessage - len("...")
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

// OneLine removes control and invisible formatting characters and replaces white space by single spaces.
func OneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}
