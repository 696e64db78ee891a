package client

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// address is where a server is: what lies before the API's paths, and what stands in for their "/v1".
type address struct {
	base url.URL // without user, and with no slash at its end
	api  string  // "/v1" as a rule; "/v4", or nothing, where the user's URL says so
}

// version is a path's last part when it names an API's version: "v1", "v4", "v1beta".
var version = regexp.MustCompile(`^v[0-9]+[a-z0-9]*$`)

// endpoints are the paths that people paste from a curl line in place of the base URL.
var endpoints = []string{"/chat/completions", "/completions", "/models"}

// natives are the same of the engines' own APIs, which know no version.
var natives = []string{"/generate_stream", "/completion", "/api/generate", "/api/chat", "/generate"}

// parseAddress reads a base URL with or without scheme, trailing slash, "/v1" and endpoint, and the user information
// in it.
func parseAddress(s string) (address, *url.Userinfo, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return address{}, nil, errors.New("no URL given; want something like http://localhost:8000")
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return address{}, nil, fmt.Errorf("%s is not a URL (%s); want something like http://localhost:8000",
			withoutUser(s), urlTrouble(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return address{}, nil, fmt.Errorf("%s: %s is not a scheme to benchmark over; want http:// or https://",
			withoutUser(s), u.Scheme)
	}
	if u.Hostname() == "" {
		return address{}, nil, fmt.Errorf("%s names no host; want something like http://localhost:8000", withoutUser(s))
	}
	user := u.User
	u.User, u.Fragment, u.RawPath = nil, "", ""
	a := address{base: *u}
	a.base.Path, a.api = splitPath(u.Path)
	return a, user, nil
}

// urlTrouble is url.Parse's reason without the URL, which may hold a password.
func urlTrouble(err error) string {
	var e *url.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	return withoutUser(err.Error())
}

// splitPath divides a path into what lies before the API and what stands in for "/v1".
func splitPath(path string) (base, api string) {
	path = strings.TrimRight(path, "/")
	for _, n := range natives {
		if rest, ok := strings.CutSuffix(path, n); ok {
			rest, _, _ = strings.Cut(rest, "/v2/models/") // Triton's, with the model's name behind it
			return strings.TrimRight(rest, "/"), "/v1"
		}
	}
	pasted := false
	for _, e := range endpoints {
		if rest, ok := strings.CutSuffix(path, e); ok {
			path, pasted = strings.TrimRight(rest, "/"), true
			break
		}
	}
	slash := strings.LastIndexByte(path, '/')
	switch {
	case slash >= 0 && version.MatchString(path[slash+1:]):
		return strings.TrimRight(path[:slash], "/"), path[slash:]
	case pasted:
		return path, "" // the endpoint was given whole, so there is no version to guess
	}
	return path, "/v1"
}

// join is the URL of an API path such as "/v1/models" or "/metrics".
func (a *address) join(path string) *url.URL {
	if rest, ok := strings.CutPrefix(path, "/v1/"); ok {
		path = a.api + "/" + rest
	}
	u := a.base
	u.Path += path
	return &u
}

// show is join for people: without the query, which may hold a key.
func (a *address) show(path string) string {
	u := a.join(path)
	u.RawQuery = ""
	return u.String()
}

// userInfo is what stands between "//" and "@" in anything that looks like a URL.
var userInfo = regexp.MustCompile(`://[^/\s@]*@`)

func withoutUser(s string) string {
	return userInfo.ReplaceAllString(s, "://")
}
