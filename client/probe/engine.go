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

// sign is a page that tells which engine a server is, by being there.
type sign struct {
	path    string
	engine  string
	mark    string // what must be in the JSON
	version string // where in the JSON; "" where the page does not tell
	length  string // where the longest context is, if there
	models  string // where names of models are, for servers without /v1/models
}

// signs are asked all at once. A server of another kind answers them with 404s; where several answer the first counts:
// SGLang and llama.cpp also speak some of Ollama's API.
var signs = []sign{
	{path: "/get_server_info", engine: "SGLang", mark: "version", version: "version", models: "served_model_name"},
	{path: "/get_model_info", engine: "SGLang", mark: "model_path", models: "model_path"},
	{path: "/props", engine: "llama.cpp", mark: "default_generation_settings", version: "build_info",
		length: "default_generation_settings.n_ctx", models: "model_alias"},
	{path: "/info", engine: "TGI", mark: "version", version: "version", length: "max_total_tokens", models: "model_id"},
	{path: "/v2", engine: "Triton", mark: "extensions.0", version: "version"},
	{path: "/api/version", engine: "Ollama", mark: "version", version: "version"},
	{path: "/version", engine: "vLLM", mark: "version", version: "version"},
}

// natives are the engines' own APIs, by the names that --api takes.
var natives = map[string]string{
	"SGLang": "sglang", "lmdeploy": "lmdeploy", "llama.cpp": "llamacpp", "Ollama": "ollama", "TGI": "tgi", "Triton": "triton",
}

// identify finds engine and version, as far as the server tells, and returns the models that pages of the engine's own
// name.
func (p *Prober) identify(ctx context.Context, f *Facts, l list) []string {
	m := l.entry(f.Model)
	f.Engine = engines[strings.ToLower(m.Get("owned_by").String())]
	if f.Engine == "" && strings.HasPrefix(l.server, "llama.cpp") {
		f.Engine = "llama.cpp"
	}
	f.MaxModelLen = int(m.Get("max_model_len").Int())
	var named []string
	for i, v := range p.read(ctx, f.Engine) {
		s := signs[i]
		if !v.Get(s.mark).Exists() {
			continue
		}
		if f.Engine == "" {
			f.Engine = s.engine
		}
		if f.Engine == s.engine {
			named = s.tell(f, v, named)
		}
	}
	return named
}

// tell takes from a page what it says.
func (s *sign) tell(f *Facts, v gjson.Result, named []string) []string {
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

// read asks for the signs of an engine, or of all where it is not known, and returns what each page said.
func (p *Prober) read(ctx context.Context, engine string) []gjson.Result {
	said := make([]gjson.Result, len(signs))
	var wg sync.WaitGroup
	for i, s := range signs {
		if engine != "" && s.engine != engine {
			continue
		}
		wg.Go(func() { said[i] = p.page(ctx, http.MethodGet, s.path) })
	}
	wg.Wait()
	return said
}

// page is a page's JSON; nothing where there is none.
func (p *Prober) page(ctx context.Context, method, path string) gjson.Result {
	var body []byte
	if method == http.MethodPost {
		body = []byte("{}")
	}
	a, err := p.client.Fetch(ctx, p.limit(factTime), method, path, body)
	if err != nil || !gjson.ValidBytes(a.Body) {
		return gjson.Result{}
	}
	return gjson.ParseBytes(a.Body)
}

// listed are the models of engines that list them at a place of their own.
func (p *Prober) listed(ctx context.Context, engine string) []string {
	var found gjson.Result
	switch engine {
	case "Ollama":
		found = p.page(ctx, http.MethodGet, "/api/tags").Get("models.#.name")
	case "Triton":
		found = p.page(ctx, http.MethodPost, "/v2/repository/index").Get("#.name")
	}
	var names []string
	for _, v := range found.Array() {
		names = append(names, v.String())
	}
	return names
}

// native is an engine's own API; "" where it has none, or is not known. Triton's depends on what serves the model,
// which shows in its inputs.
func (p *Prober) native(ctx context.Context, f *Facts) string {
	if f.Engine == "Triton" && p.nests(ctx, f.Model) {
		return "triton-vllm"
	}
	return natives[f.Engine]
}

// nests reports whether a Triton model is one of vLLM's backend, which takes its parameters nested.
func (p *Prober) nests(ctx context.Context, model string) bool {
	inputs := p.page(ctx, http.MethodGet, "/v2/models/"+model).Get("inputs.#.name").String()
	return strings.Contains(inputs, `"sampling_parameters"`) || strings.Contains(inputs, `"return_num_output_tokens"`)
}

// context finds out how long a context Ollama has given a model, which it only tells once it is loaded. Longer prompts
// are cut without a word.
func (p *Prober) context(ctx context.Context, f *Facts, want Want) {
	if f.Engine != "Ollama" {
		return
	}
	for _, m := range p.page(ctx, http.MethodGet, "/api/ps").Get("models").Array() {
		if m.Get("name").String() == f.Model {
			f.MaxModelLen = int(m.Get("context_length").Int())
		}
	}
	if n := want.PromptTokens + want.OutputTokens; f.MaxModelLen > 0 && n > f.MaxModelLen {
		f.note(noteOllamaCuts, want.PromptTokens, want.OutputTokens, f.MaxModelLen, n)
	}
}
