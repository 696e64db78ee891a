package probe

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// engines are known by what /v1/models says owns a model.
var engines = map[string]string{
	"vllm": "vLLM", "sglang": "SGLang", "lmdeploy": "lmdeploy", "llamacpp": "llama.cpp", "library": "Ollama",
}

// sign is a page that tells one engine's version, and by being there also which engine it is.
type sign struct {
	path    string
	engine  string
	version string // where in the JSON
	length  string // where the longest context is, if there
}

// signs are asked all at once. A server of another kind answers them with 404s.
var signs = []sign{
	{path: "/version", engine: "vLLM", version: "version"},
	{path: "/api/version", engine: "Ollama", version: "version"},
	{path: "/props", engine: "llama.cpp", version: "build_info", length: "default_generation_settings.n_ctx"},
	{path: "/get_server_info", engine: "SGLang", version: "version"},
	{path: "/info", engine: "TGI", version: "version", length: "max_total_tokens"},
}

// identify finds engine and version, as far as the server tells.
func (p *Prober) identify(ctx context.Context, f *Facts, l list) {
	m := l.entry(f.Model)
	f.Engine = engines[strings.ToLower(m.Get("owned_by").String())]
	if f.Engine == "" && strings.HasPrefix(l.server, "llama.cpp") {
		f.Engine = "llama.cpp"
	}
	f.MaxModelLen = int(m.Get("max_model_len").Int())
	for i, v := range p.read(ctx, f.Engine) {
		s := signs[i]
		version := v.Get(s.version).String()
		if version == "" {
			continue
		}
		if f.Engine == "" {
			f.Engine = s.engine
		}
		if f.Engine == s.engine {
			f.Version = version
			if f.MaxModelLen == 0 && s.length != "" {
				f.MaxModelLen = int(v.Get(s.length).Int())
			}
		}
	}
}

// read asks for the signs of an engine, or of all where it is not known, and returns what each page said.
func (p *Prober) read(ctx context.Context, engine string) []gjson.Result {
	said := make([]gjson.Result, len(signs))
	var wg sync.WaitGroup
	for i, s := range signs {
		if engine != "" && s.engine != engine {
			continue
		}
		wg.Go(func() {
			a, err := p.client.Fetch(ctx, p.limit(factTime), http.MethodGet, s.path, nil)
			if err == nil && gjson.ValidBytes(a.Body) {
				said[i] = gjson.ParseBytes(a.Body)
			}
		})
	}
	wg.Wait()
	return said
}
