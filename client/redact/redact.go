package redact

import (
	"regexp"
	"slices"
	"strings"
)

// RedactedValue stands for a secret in run.json, as in messages.
const RedactedValue = Redacted

// SecretFlags are the flags whose whole value is a secret.
var SecretFlags = []string{"--api-key", "--api-key-b", "--require-key", "--cluster-token"}

// SecretsOfFlag returns a flag's value without its secrets. Of a header the name remains.
func SecretsOfFlag(flag, value string) string {
	switch {
	case slices.Contains(SecretFlags, flag):
		return RedactedValue
	case flag == "--header":
		name, _, ok := strings.Cut(value, ":")
		if !ok {
			return RedactedValue
		}
		return name + ": " + RedactedValue
	case flag == "--body":
		return WithoutFields(value)
	}
	return WithoutCredentials(value)
}

var (
	// inURL matches user name and password in a URL with a scheme, or in one without it such as "me:secret@host:8000".
	inURL = regexp.MustCompile(`(^|://)[^/\s@:?#]+:[^/\s?#]*@|://[^/\s?#]*@`)
	// token matches a URL without a scheme that has a token in place of user name and password: "sk-1@host:8000". Its
	// host has a letter or a port, other than poisson@1.57.
	token = regexp.MustCompile(`^[^\s@/:<>=]+@((?:[A-Za-z0-9-]+\.)*[A-Za-z][A-Za-z0-9-]*(?::\d+)?(?:/\S*)?|[0-9.]+:\d+(?:/\S*)?)$`)
	// urlQuery matches the query of a URL with a scheme.
	urlQuery = regexp.MustCompile(`(://[^\s?]*)\?\S*`)
	// bareQuery matches the query of a URL without a scheme, "host:8000/v1?key=secret", where it is the whole argument.
	bareQuery = regexp.MustCompile(`^([A-Za-z0-9.-]+(?::\d+)?(?:/[^\s?]*)?)\?\S+$`)
)

// WithoutCredentials removes user name, password and query from the URLs in s.
func WithoutCredentials(s string) string {
	s = inURL.ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasPrefix(m, "://") {
			return "://" + RedactedValue + "@"
		}
		return RedactedValue + "@"
	})
	s = token.ReplaceAllString(s, RedactedValue+"@$1")
	s = urlQuery.ReplaceAllString(s, "$1?"+RedactedValue)
	return bareQuery.ReplaceAllString(s, "$1?"+RedactedValue)
}
