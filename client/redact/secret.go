package redact

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const minSecret = 6 // bytes: a shorter secret is found in harmless words

// SecretVariables are the environment variables that hold keys, and those that may hold a password of a proxy.
func SecretVariables() (keys, urls []string) {
	return []string{"LLMSWEEP_API_KEY", "OPENAI_API_KEY", "LLMSWEEP_API_KEY_B", "LLMSWEEP_SIM_KEY",
			"LLMSWEEP_CLUSTER_TOKEN"},
		[]string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"}
}

// InHeader returns the value of a header, and its words: "Authorization: Bearer sk-...".
func InHeader(h string) []string {
	_, value, ok := strings.Cut(h, ":")
	if !ok {
		value = h
	}
	return append(strings.Fields(value), strings.TrimSpace(value))
}

// inAddress matches what stands before the host of a URL, with or without a scheme.
var inAddress = regexp.MustCompile(`^(?:[^\s=]+=)?(?:[a-z]+://)?([^\s]+)@`)

// InURL returns the password or token of a URL, and the values of its query.
func InURL(s string) []string {
	var found []string
	if m := inAddress.FindStringSubmatch(s); m != nil {
		found = append(found, m[1], (&url.URL{Path: m[1]}).EscapedPath()) // a / in a password makes it a path
		user, password, ok := strings.Cut(m[1], ":")
		if !ok {
			password = user
		}
		found = append(found, password)
		if plain, err := url.PathUnescape(password); err == nil {
			found = append(found, plain)
		}
	}
	if _, query, ok := strings.Cut(s, "?"); ok && !strings.ContainsAny(s, " \t\n") {
		for _, part := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' || r == '#' }) {
			_, value, ok := strings.Cut(part, "=")
			if !ok {
				value = part
			}
			found = append(found, value)
			if plain, err := url.QueryUnescape(value); err == nil {
				found = append(found, plain)
			}
		}
	}
	return found
}

// secretField matches the names of fields that hold a key: api_key, apiKey, access-token, password; not max_tokens.
var secretField = regexp.MustCompile(`(?i)(^|[_.-])(api[_-]?key|key|token|secret|password|passwd|authorization|credentials?)$|(Key|Token|Secret|Password)$`)

// WithoutFields replaces the texts in fields of a JSON object that hold a key.
func WithoutFields(body string) string {
	if len(InBody(body)) == 0 {
		return body
	}
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return Redacted
	}
	eachSecret(v, func(fields map[string]any, name string) { fields[name] = Redacted })
	b, err := json.Marshal(v)
	if err != nil {
		return Redacted
	}
	return string(b)
}

// InBody returns the texts in fields of a JSON object that hold a key.
func InBody(body string) []string {
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return nil
	}
	var secrets []string
	eachSecret(v, func(fields map[string]any, name string) { secrets = append(secrets, fields[name].(string)) })
	return secrets
}

func eachSecret(v any, f func(fields map[string]any, name string)) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			eachSecret(e, f)
		}
	case map[string]any:
		for name, e := range v {
			if s, ok := e.(string); ok && s != Redacted && secretField.MatchString(name) {
				f(v, name)
			}
			eachSecret(e, f)
		}
	}
}

// HideSecrets replaces secrets in a text, but those that are too short to differ from words.
func HideSecrets(s string, secrets []string) string {
	secrets = slices.DeleteFunc(slices.Clone(secrets), func(x string) bool { return len(x) < minSecret })
	return ReplaceSecrets(s, secrets)
}

// ReplaceSecrets replaces secrets in a text, the longest first, also where Go or JSON quotes them.
func ReplaceSecrets(s string, secrets []string) string {
	var forms []string
	for _, x := range secrets {
		inJSON, _ := json.Marshal(x)
		inGo := strconv.Quote(x)
		forms = append(forms, x, string(inJSON[1:len(inJSON)-1]), inGo[1:len(inGo)-1])
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	for _, x := range forms {
		if x != "" {
			s = strings.ReplaceAll(s, x, Redacted)
		}
	}
	return s
}
