package server

import (
	"cmp"
	"fmt"
	"io"

	"maps"
	"net/http"
	"strings"
)

// flavor has the properties in which the HTTP servers of engines differ.
type flavor struct {
	name      string
	owner     string // owned_by in the list of models
	reasoning string // the field for reasoning in a chat
	openai    func() *style
	natives   []func() *endpoint
	about     func(s *Host) map[string]route // pages that identify it
	metrics   []metric                       // nil for no /metrics
	notFound  func(w http.ResponseWriter)
	anyModel  bool   // it ignores the model's name
	key       string // the header with the API key; "" for a bearer token
	version   string // a header without which it refuses requests; "" for none
}

func flavors() []*flavor {
	return []*flavor{
		{name: "vllm", owner: "vllm", reasoning: "reasoning_content", openai: vllmStyle, about: aboutVLLM,
			natives: []func() *endpoint{responsesEndpoint, messagesEndpoint(messagesStyle{Repeats: true})},
			metrics: vllmMetrics(), notFound: detailNotFound},
		{name: "sglang", owner: "sglang", reasoning: "reasoning_content", openai: sglangStyle,
			natives: []func() *endpoint{sglangEndpoint}, about: aboutSGLang, metrics: sglangMetrics(), notFound: detailNotFound, anyModel: true},
		{name: "anthropic", natives: []func() *endpoint{messagesEndpoint(messagesStyle{Split: true, Pings: true})}, about: aboutAnthropic,
			key: "X-Api-Key", version: "Anthropic-Version", notFound: textNotFound},
	}
}

// Engines returns the names that Options.Engine takes.
func Engines() []string {
	var names []string
	for _, p := range flavors() {
		names = append(names, p.name)
	}
	return names
}

func flavorOf(name string) *flavor {
	for _, p := range flavors() {
		if p.name == name {
			return p
		}
	}
	panic(fmt.Sprintf("simulated server: no engine is called %q", name))
}

// routes returns the engine's endpoints.
func (p *flavor) routes(s *server) map[string]route {
	all := map[string]route{"/health": {Method: http.MethodGet, Serve: func(http.ResponseWriter, *http.Request) {}}}
	if p.openai != nil {
		all["/v1/models"] = route{Method: http.MethodGet, Serve: s.Models}
		s.serve(all, chatEndpoint(p.openai()))
		s.serve(all, textEndpoint(p.openai()))
	}
	for _, native := range p.natives {
		s.serve(all, native())
	}
	if p.metrics != nil {
		all["/metrics"] = route{Method: http.MethodGet, Serve: s.metrics}
	}
	maps.Copy(all, p.about(s.Host))
	return all
}

// admits returns why a request is refused before it is read; nil where it is not.
func (p *flavor) admits(r *http.Request, key string) *apiError {
	given := "Bearer " + key
	if p.key != "" {
		given = key
	}
	switch {
	case !strings.HasPrefix(r.URL.Path, "/v1/"):
	case key != "" && r.Header.Get(cmp.Or(p.key, "Authorization")) != given:
		return &apiError{Status: http.StatusUnauthorized, Kind: "invalid_request_error", Code: "invalid_api_key",
			Message: "Incorrect API key provided."}
	case p.version != "" && r.Header.Get(p.version) == "":
		return badRequest("%s: header is required", strings.ToLower(p.version))
	}
	return nil
}

// serve adds a completion endpoint.
func (s *server) serve(all map[string]route, to *endpoint) {
	all[to.Path] = route{Method: http.MethodPost, Serve: func(w http.ResponseWriter, r *http.Request) { s.generate(w, r, to) }}
}

func detailNotFound(w http.ResponseWriter) {
	writeJSON(w, http.StatusNotFound, map[string]string{"detail": "Not Found"})
}

func textNotFound(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusNotFound)
	io.WriteString(w, "404 page not found")
}
