package input

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"llmsweep/client/api"
)

// Address is a server's base URL, and what its paths have in place of "/v1".
type Address struct {
	Base   url.URL // without user information and trailing slash
	Socket string  // path of a Unix socket; empty for a host
	api    string  // "/v1"; another version, or nothing, where the user's URL has that
}

// version matches the part of a path that is an API's version: "v1", "v4", "v1beta".
var version = regexp.MustCompile(`^v[0-9]+[a-z0-9]*$`)

var unsupportedPaths = []struct{ path, advice string }{
	{"/api/chat", ollamaAdvice}, {"/api/generate", ollamaAdvice},
	{"/completion", "/completion is llama.cpp's own API; use its OpenAI API: the URL up to the port"},
	{"/generate_stream", "/generate_stream is TGI's or Triton's own API; use the OpenAI API of TGI, or of Triton's " +
		"OpenAI frontend: the URL up to the port"},
	{"/embeddings", noTokensAdvice}, {"/rerank", noTokensAdvice}, {"/score", noTokensAdvice},
}

const (
	ollamaAdvice   = "that path is Ollama's own API; use its OpenAI API: http://HOST:11434"
	noTokensAdvice = "that path answers without tokens; give the URL of an API that generates some"
)

// ParseAddress reads a base URL with or without scheme, trailing slash, "/v1" and endpoint. It returns the user
// information separately.
func ParseAddress(s string) (Address, *url.Userinfo, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return Address{}, nil, errors.New("no URL given; want something like http://localhost:8000")
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return Address{}, nil, errors.New("the URL contains a control character; was it pasted with a line break?")
	}
	if rest, ok := strings.CutPrefix(s, "unix:"); ok {
		return parseSocket(rest)
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(escapeZone(s))
	if err != nil {
		return Address{}, nil, fmt.Errorf("%s is not a URL (%s); want something like http://localhost:8000",
			redactURL(s), parseReason(err, s))
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return Address{}, nil, fmt.Errorf("%s: %s is not a scheme to benchmark over; want http:// or https://",
			redactURL(s), u.Scheme)
	}
	if u.Hostname() == "" {
		return Address{}, nil, fmt.Errorf("%s names no host; want something like http://localhost:8000", redactURL(s))
	}
	for _, p := range unsupportedPaths {
		if strings.HasSuffix(strings.TrimRight(u.Path, "/"), p.path) {
			return Address{}, nil, errors.New(p.advice)
		}
	}
	user := u.User
	u.User, u.Fragment, u.RawPath = nil, "", ""
	a := Address{Base: *u}
	a.Base.Path, a.api = splitPath(u.Path)
	if _, err := url.Parse(a.Base.String()); err != nil { // the name of a network interface may have what a URL cannot
		return Address{}, nil, fmt.Errorf("%s is not a URL (%s); want something like http://localhost:8000", redactURL(s),
			parseReason(err, s))
	}
	return a, user, nil
}

// escapeZone writes an IPv6 address with the name of a network interface, fe80::1%eth0, as URLs have it: with %25.
func escapeZone(s string) string {
	open, shut := strings.IndexByte(s, '['), strings.IndexByte(s, ']')
	if open < 0 || shut < open {
		return s
	}
	if i := strings.IndexByte(s[open:shut], '%'); i >= 0 && !strings.HasPrefix(s[open+i:], "%25") {
		return s[:open+i] + "%25" + s[open+i+1:]
	}
	return s
}

// parseSocket reads what follows "unix:": the path of a socket, and after it ":/prefix" where the API has one.
func parseSocket(s string) (Address, *url.Userinfo, error) {
	path, prefix := strings.TrimPrefix(s, "//"), ""
	if strings.HasPrefix(path, "//") {
		path = "/" + strings.TrimLeft(path, "/")
	}
	if i := strings.LastIndex(path, ":/"); i > 1 { // not C:/
		path, prefix = path[:i], path[i+1:]
	}
	if path == "" {
		return Address{}, nil, errors.New("unix: names no socket; want something like unix:/run/vllm.sock, or " +
			"unix:/run/vllm.sock:/prefix")
	}
	u, err := url.Parse("http://localhost" + prefix)
	if err != nil {
		return Address{}, nil, fmt.Errorf("unix:%s: %q is not the path of a URL (%s)", path, redactURL(prefix),
			parseReason(err, prefix))
	}
	u.Fragment, u.RawPath = "", ""
	a := Address{Base: *u, Socket: path}
	a.Base.Path, a.api = splitPath(u.Path)
	return a, nil, nil
}

// parseReason returns the reason of an error of url.Parse without the URL, which may hold a password.
func parseReason(err error, whole string) string {
	var e *url.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	_, rest, ok := strings.Cut(err.Error(), `"`)
	quoted, _, _ := strings.Cut(rest, `"`)
	if ok && !strings.Contains(redactURL(whole), quoted) {
		return "in a password, write / as %2F, ? as %3F, # as %23 and @ as %40"
	}
	return WithoutUser(err.Error())
}

// splitPath divides a path into the part before the API, and the API's version with its slash.
func splitPath(path string) (base, api string) {
	path = strings.TrimRight(path, "/")
	d, path := cutEndpoint(path)
	if d != nil && !isVersioned(d) {
		return path, "/v1"
	}
	pasted := d != nil
	if rest, ok := strings.CutSuffix(path, "/models"); ok && !pasted {
		path, pasted = strings.TrimRight(rest, "/"), true
	}
	slash := strings.LastIndexByte(path, '/')
	switch {
	case slash >= 0 && version.MatchString(path[slash+1:]):
		return strings.TrimRight(path[:slash], "/"), path[slash:]
	case pasted:
		return path, "" // a whole endpoint without a version has none
	}
	return path, "/v1"
}

// cutEndpoint cuts an API's endpoint, which users paste from a curl command, off the end of a path. It returns the API;
// nil for none.
func cutEndpoint(path string) (longest api.Dialect, rest string) {
	rest = path
	for _, d := range api.Dialects() { // the longest: /chat/completions ends as /completions does
		before, ok := strings.CutSuffix(path, strings.TrimPrefix(d.Path(), "/v1"))
		before = strings.TrimRight(before, "/")
		if ok && len(before) < len(rest) {
			longest, rest = d, before
		}
	}
	return longest, rest
}

func isVersioned(d api.Dialect) bool { return strings.HasPrefix(d.Path(), "/v1/") }

// PastedAPI returns the name of the API whose endpoint a URL ends with; empty for a base URL, and for an endpoint that
// several servers have.
func PastedAPI(s string) string {
	path, _, _ := strings.Cut(strings.TrimSpace(s), "?")
	if d, _ := cutEndpoint(strings.TrimRight(path, "/")); d != nil && isVersioned(d) {
		return d.Name()
	}
	return ""
}

// Join returns the URL of an API path such as "/v1/models" or "/metrics".
func (a *Address) Join(path string) *url.URL {
	if rest, ok := strings.CutPrefix(path, "/v1/"); ok {
		path = a.api + "/" + rest
	}
	u := a.Base
	u.Path += path
	return &u
}

// Show returns the URL of an API path without its query, which may hold a key.
func (a *Address) Show(path string) string {
	if base, _ := splitPath(a.Base.Path); path == "" && base != a.Base.Path { // else ParseAddress would cut the path
		path = a.api
	}
	u := a.Join(path)
	u.RawQuery = ""
	if a.Socket == "" {
		return u.String()
	}
	if u.Path == "" {
		return "unix:" + a.Socket
	}
	return "unix:" + a.Socket + ":" + u.EscapedPath()
}

var userInfo = regexp.MustCompile(`://[^/\s?#]*@`)

// WithoutUser removes the user information from all URLs in s.
func WithoutUser(s string) string { return userInfo.ReplaceAllString(s, "://") }

// scheme matches what a URL begins with, also where a colon or a slash of it is missing.
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*(?::/{0,2}|//?)`)

// redactURL returns a URL for an error, without its query and all before its last @: a password may have a character
// that ends the user information.
func redactURL(s string) string {
	s, _, _ = strings.Cut(s, "#")
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		s = scheme.FindString(s) + s[at+1:]
	}
	s, _, _ = strings.Cut(s, "?")
	return s
}
