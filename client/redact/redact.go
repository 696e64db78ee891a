package redact

import (
	"regexp"
	"slices"
	"strings"
)

// SecretFlags are the flags whose whole value is a secret.
var SecretFlags = []string{"--api-key", "--api-key-b", "--require-key", "--cluster-token"}

// SecretsOfFlag returns a flag's value without its secrets; the name of a header remains.
func SecretsOfFlag(flag, value string) string {
	switch {
	case slices.Contains(SecretFlags, flag):
		return Redacted
	case flag == "--header":
		name, _, ok := strings.Cut(value, ":")
		if !ok {
			return Redacted
		}
		return name + ": " + Redacted
	case flag == "--body":
		return WithoutFields(value)
	}
	return WithoutCredentials(value)
}

var (
	// inURL matches user name and password in a URL with a scheme, or in one without it such as "me:secret@host:8000".
	inURL = regexp.MustCompile(`(^|://)[^/\s@:?#]+:[^/\s?#]*@|://[^/\s?#]*@`)
	// token matches a URL without a scheme that has a token in place of user name and password: "sk-1@host:8000". The
	// host must have a letter or a port, because poisson@1.57 is no URL.
	token    = regexp.MustCompile(`^[^\s@/:<>=]+@((?:[A-Za-z0-9-]+\.)*[A-Za-z][A-Za-z0-9-]*(?::\d+)?(?:/\S*)?|[0-9.]+:\d+(?:/\S*)?)$`)
	urlQuery = regexp.MustCompile(`(://[^\s?]*)\?\S*`)
	// bareQuery matches the query of a URL without a scheme, "host:8000/v1?key=secret", where it is the whole argument.
	bareQuery = regexp.MustCompile(`^([A-Za-z0-9.-]+(?::\d+)?(?:/[^\s?]*)?)\?\S+$`)
)

// WithoutCredentials removes user name, password and query from the URLs in s.
func WithoutCredentials(s string) string {
	s = inURL.ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasPrefix(m, "://") {
			return "://" + Redacted + "@"
		}
		return Redacted + "@"
	})
	s = token.ReplaceAllString(s, Redacted+"@$1")
	s = urlQuery.ReplaceAllString(s, "$1?"+Redacted)
	return bareQuery.ReplaceAllString(s, "$1?"+Redacted)
}
