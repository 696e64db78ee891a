package probe

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// engines are the names of engines, by a model's owner in /v1/models.
var engines = map[string]string{
	"vllm": "vLLM", "sglang": "SGLang", "lmdeploy": "lmdeploy", "llamacpp": "llama.cpp", "library": "Ollama",
}

// enginePage is a page that only one engine has.
type enginePage struct {
	path   string
	engine string
	// gjson paths in the page; "" where the page does not have it
	key     string // what identifies the engine
	version string
	length  string // longest context
	models  string // name of the model, for servers without /v1/models
}

// The first of enginePages decides: SGLang and llama.cpp also have parts of Ollama's API.
var enginePages = []enginePage{
	{path: "/get_server_info", engine: "SGLang", key: "version", version: "version", models: "served_model_name"},
	{path: "/get_model_info", engine: "SGLang", key: "model_path", models: "model_path"},
	{path: "/props", engine: "llama.cpp", key: "default_generation_settings", version: "build_info",
		length: "default_generation_settings.n_ctx", models: "model_alias"},
	{path: "/info", engine: "TGI", key: "version", version: "version", length: "max_total_tokens", models: "model_id"},
	{path: "/api/version", engine: "Ollama", key: "version", version: "version"},
	{path: "/version", engine: "vLLM", key: "version", version: "version"},
}

// identify finds engine and version, and returns the models that the engine's own pages name.
func (p *Prober) identify(ctx context.Context, f *Facts, l modelList) []string {
	m := l.entry(f.Model)
	f.Engine = engines[strings.ToLower(m.Get("owned_by").String())]
	if f.Engine == "" && strings.HasPrefix(l.server, "llama.cpp") {
		f.Engine = "llama.cpp"
	}
	f.MaxModelLen = int(m.Get("max_model_len").Int())
	var models []string
	for i, v := range p.readEnginePages(ctx, f.Engine) {
		page := enginePages[i]
		if !v.Get(page.key).Exists() {
			continue
		}
		f.Engine = cmp.Or(f.Engine, page.engine)
		if f.Engine != page.engine {
			continue
		}
		if page.version != "" && f.Version == "" {
			f.Version = v.Get(page.version).String()
		}
		if page.length != "" && f.MaxModelLen == 0 {
			f.MaxModelLen = int(v.Get(page.length).Int())
		}
		if page.models != "" && len(models) == 0 {
			if name := v.Get(page.models).String(); name != "" {
				models = []string{name}
			}
		}
	}
	return models
}

// readEnginePages requests all pages of an unknown engine.
func (p *Prober) readEnginePages(ctx context.Context, engine string) []gjson.Result {
	pages := make([]gjson.Result, len(enginePages))
	var wg sync.WaitGroup
	for i, page := range enginePages {
		if engine == "" || page.engine == engine {
			wg.Go(func() { pages[i] = p.page(ctx, page.path) })
		}
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

// findContextLength is for Ollama, which tells the length only once the model is loaded, and cuts longer prompts
// without an error.
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
