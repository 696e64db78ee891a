package probe

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// engines maps a model's owner in /v1/models to the engine.
var engines = map[string]string{
	"vllm": "vLLM", "sglang": "SGLang", "lmdeploy": "lmdeploy", "llamacpp": "llama.cpp", "library": "Ollama",
}

// enginePage is a page that only one engine has.
type enginePage struct {
	path    string
	engine  string
	key     string // path in the JSON that must exist
	version string // path of the engine's version; "" where the page does not have it
	length  string // path of the longest context
	models  string // path of models' names, for servers without /v1/models
}

// enginePages are requested together. Other servers answer them with 404. Where a server has several, the first
// decides: SGLang and llama.cpp also have parts of Ollama's API.
var enginePages = []enginePage{
	{path: "/get_server_info", engine: "SGLang", key: "version", version: "version", models: "served_model_name"},
	{path: "/get_model_info", engine: "SGLang", key: "model_path", models: "model_path"},
	{path: "/props", engine: "llama.cpp", key: "default_generation_settings", version: "build_info",
		length: "default_generation_settings.n_ctx", models: "model_alias"},
	{path: "/info", engine: "TGI", key: "version", version: "version", length: "max_total_tokens", models: "model_id"},
	{path: "/api/version", engine: "Ollama", key: "version", version: "version"},
	{path: "/version", engine: "vLLM", key: "version", version: "version"},
}

// identify finds engine and version, as far as the server tells, and returns the models that the engine's own pages
// name.
func (p *Prober) identify(ctx context.Context, f *Facts, l list) []string {
	m := l.entry(f.Model)
	f.Engine = engines[strings.ToLower(m.Get("owned_by").String())]
	if f.Engine == "" && strings.HasPrefix(l.server, "llama.cpp") {
		f.Engine = "llama.cpp"
	}
	f.MaxModelLen = int(m.Get("max_model_len").Int())
	var named []string
	for i, v := range p.readEnginePages(ctx, f.Engine) {
		s := enginePages[i]
		if !v.Get(s.key).Exists() {
			continue
		}
		if f.Engine == "" {
			f.Engine = s.engine
		}
		if f.Engine == s.engine {
			named = s.addFacts(f, v, named)
		}
	}
	return named
}

// addFacts adds a page's content to the facts, and returns the models that are known by then.
func (s *enginePage) addFacts(f *Facts, v gjson.Result, named []string) []string {
	if s.version != "" && f.Version == "" {
		f.Version = v.Get(s.version).String()
	}
	if f.MaxModelLen == 0 && s.length != "" {
		f.MaxModelLen = int(v.Get(s.length).Int())
	}
	if name := v.Get(s.models).String(); s.models != "" && name != "" && len(named) == 0 {
		return []string{name}
	}
	return named
}

// readEnginePages requests the pages of an engine, or all where it is not known, and returns the JSON of each.
func (p *Prober) readEnginePages(ctx context.Context, engine string) []gjson.Result {
	pages := make([]gjson.Result, len(enginePages))
	var wg sync.WaitGroup
	for i, s := range enginePages {
		if engine != "" && s.engine != engine {
			continue
		}
		wg.Go(func() { pages[i] = p.page(ctx, s.path) })
	}
	wg.Wait()
	return pages
}

// page returns a page's JSON; the zero Result where there is none.
func (p *Prober) page(ctx context.Context, path string) gjson.Result {
	a, err := p.client.Fetch(ctx, p.limit(factTime), http.MethodGet, path, nil)
	if err != nil || !gjson.ValidBytes(a.Body) {
		return gjson.Result{}
	}
	return gjson.ParseBytes(a.Body)
}

// findContextLength finds the context length of an Ollama model, which Ollama tells only once the model is loaded.
// Ollama cuts longer prompts without an error.
func (p *Prober) findContextLength(ctx context.Context, f *Facts, want Workload) {
	if f.Engine != "Ollama" {
		return
	}
	for _, m := range p.page(ctx, "/api/ps").Get("models").Array() {
		if m.Get("name").String() == f.Model {
			f.MaxModelLen = int(m.Get("context_length").Int())
		}
	}
	if n := want.PromptTokens + want.OutputTokens; f.MaxModelLen > 0 && n > f.MaxModelLen {
		f.note(noteOllamaCuts, want.PromptTokens, want.OutputTokens, f.MaxModelLen, n)
	}
}
