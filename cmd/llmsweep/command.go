package main

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"llmsweep/sweep/rundir"
)

// redacted replaces a secret in run.json.
const redacted = "[redacted]"

// secretFlags are the flags whose whole value is a secret.
var secretFlags = []string{"--api-key", "--api-key-b", "--require-key", "--cluster-token"}

// command returns what run.json records of the command line: the arguments, and the settings that change each request, without
// their secrets. server is the URL of the measured server, as it was given.
func (t *targetFlags) command(c *console, server string) rundir.Command {
	r := rundir.Command{Args: append([]string{"llmsweep"}, t.redact(c.args)...), Timeout: t.Timeout.Seconds(), Proxy: c.proxyFor(server)}
	if t.Body != "" {
		if body := t.withoutKey(withoutFields(t.Body)); json.Valid([]byte(body)) {
			r.Body = json.RawMessage(body)
		}
	}
	for _, h := range t.Header {
		name, _, _ := strings.Cut(h, ":")
		r.Headers = append(r.Headers, http.CanonicalHeaderKey(strings.TrimSpace(name)))
	}
	return r
}

// redact returns a command line without secrets: API keys, values of headers, and user names, passwords and queries in URLs.
func (t *targetFlags) redact(args []string) []string {
	args = slices.Clone(args)
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !strings.HasPrefix(name, "--") {
			args[i] = t.withoutKey(withoutCredentials(args[i]))
			continue
		}
		if !joined { // the value is the next argument
			if i+1 == len(args) || !slices.Contains(secretFlags, name) && name != "--header" && name != "--body" {
				continue
			}
			i++
			args[i] = t.withoutKey(redactValue(name, args[i]))
			continue
		}
		args[i] = t.withoutKey(name + "=" + redactValue(name, value))
	}
	return args
}

// redactValue returns a flag's value without its secrets. Of a header the name remains.
func redactValue(flag, value string) string {
	switch {
	case slices.Contains(secretFlags, flag):
		return redacted
	case flag == "--header":
		name, _, ok := strings.Cut(value, ":")
		if !ok {
			return redacted
		}
		return name + ": " + redacted
	case flag == "--body":
		return withoutFields(value)
	}
	return withoutCredentials(value)
}

// withoutKey replaces the API key, and the values of headers, wherever they appear.
func (t *targetFlags) withoutKey(s string) string {
	s = replaced(s, []string{t.APIKey})
	var others []string
	for _, h := range t.Header {
		others = append(others, headerSecrets(h)...)
	}
	return hidden(s, others)
}

var (
	// inURL matches user name and password in a URL with a scheme, or in one without it such as "me:secret@host:8000".
	inURL = regexp.MustCompile(`(^|://)[^/\s@:?#]+:[^/\s?#]*@|://[^/\s?#]*@`)
	// token matches a URL without a scheme that has a token in place of user name and password: "sk-1@host:8000". Its host has a letter or
	// a port, other than poisson@1.57.
	token = regexp.MustCompile(`^[^\s@/:<>=]+@((?:[A-Za-z0-9-]+\.)*[A-Za-z][A-Za-z0-9-]*(?::\d+)?(?:/\S*)?|[0-9.]+:\d+(?:/\S*)?)$`)
	// urlQuery matches the query of a URL with a scheme.
	urlQuery = regexp.MustCompile(`(://[^\s?]*)\?\S*`)
	// bareQuery matches the query of a URL without a scheme, "host:8000/v1?key=secret", where it is the whole argument.
	bareQuery = regexp.MustCompile(`^([A-Za-z0-9.-]+(?::\d+)?(?:/[^\s?]*)?)\?\S+$`)
)

// withoutCredentials removes user name, password and query from the URLs in s.
func withoutCredentials(s string) string {
	s = inURL.ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasPrefix(m, "://") {
			return "://" + redacted + "@"
		}
		return redacted + "@"
	})
	s = token.ReplaceAllString(s, redacted+"@$1")
	s = urlQuery.ReplaceAllString(s, "$1?"+redacted)
	return bareQuery.ReplaceAllString(s, "$1?"+redacted)
}

// proxyFor returns the URL of the proxy for a server, without user name and password; empty where there is none.
func (c *console) proxyFor(server string) string {
	if c.proxy == nil || strings.HasPrefix(server, simScheme) || strings.HasPrefix(server, "unix:") {
		return ""
	}
	if !strings.Contains(server, "://") {
		server = "http://" + server
	}
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	p, err := c.proxy(&http.Request{URL: u})
	if err != nil || p == nil {
		return ""
	}
	shown := url.URL{Scheme: cmp.Or(p.Scheme, "http"), Host: p.Host}
	return shown.String()
}
