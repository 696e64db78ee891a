package probe

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/note"
	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"

	"github.com/google/go-cmp/cmp"
)

// serveSimulated returns the URL of a fast simulated engine, with other answers at some paths: JSON, or "" for 404.
func serveSimulated(t testing.TB, o simserver.Options, pages map[string]string) string {
	c, err := sim.Preset("Qwen2-7B/H200x4/int8")
	if err != nil {
		t.Fatal(err)
	}
	c.StepOverhead = 100 * time.Microsecond
	live, err := sim.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(live.Close)
	engine := simserver.New(live, o)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		switch {
		case !ok:
			engine.ServeHTTP(w, r)
		case page == "":
			http.NotFound(w, r)
		default:
			io.WriteString(w, page)
		}
	}))
	t.Cleanup(s.CloseClientConnections)
	return s.URL
}

// met is what a preflight finds out about an engine.
type met struct {
	API, Model, Engine, Version string
	Usage, Forced               bool
	Notes                       []note.Note
}

// runPreflight runs a preflight.
func runPreflight(t *testing.T, o client.Options, want Workload) (met, *Prober) {
	t.Helper()
	p := prober(t, o)
	f, err := p.Preflight(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	notes := slices.DeleteFunc(f.Notes, heldBack)
	return met{f.API, f.Model, f.Engine, f.Version, f.Usage, f.LengthForced, notes}, p
}

func check(t *testing.T, want, got met) {
	t.Helper()
	if len(want.Notes) == 0 {
		want.Notes = got.Notes[:0]
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// ollamaPages make a simulated server look like Ollama's.
var ollamaPages = map[string]string{
	"/v1/models":   `{"object":"list","data":[{"id":"Qwen2-7B","owned_by":"library"}]}`,
	"/api/version": `{"version":"0.17.4"}`,
	"/api/ps":      `{"models":[{"name":"Qwen2-7B","context_length":4096}]}`,
}

// Each engine is recognised, and measured by the first API that it has.
func TestAuto(t *testing.T) {
	const missing = "404 Not Found: 404 page not found"
	for name, tt := range map[string]struct {
		engine string
		pages  map[string]string
		want   met
	}{
		"vLLM":   {"vllm", nil, met{"chat", "Qwen2-7B", "vLLM", "0.11.0+sim", true, true, nil}},
		"SGLang": {"sglang", nil, met{"chat", "Qwen2-7B", "SGLang", "0.5.2+sim", true, true, nil}},
		"TGI, without a list of models": {"vllm", map[string]string{
			"/v1/models": "", "/version": "", "/info": `{"model_id":"Qwen2-7B","version":"2.4.1","max_total_tokens":4096}`,
		}, met{"chat", "Qwen2-7B", "TGI", "2.4.1", true, false, []note.Note{noteNotForced.New("TGI")}}},
		"no chat": {"vllm", map[string]string{"/v1/chat/completions": ""},
			met{"completions", "Qwen2-7B", "vLLM", "0.11.0+sim", true, true, []note.Note{noteCompletions.New(missing)}}},
		"responses alone": {"vllm", map[string]string{"/v1/chat/completions": "", "/v1/completions": ""},
			met{"responses", "Qwen2-7B", "vLLM", "0.11.0+sim", true, true, []note.Note{noteNewerAPI.New(missing, "responses")}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := runPreflight(t, client.Options{URL: serveSimulated(t, simserver.Options{Engine: tt.engine}, tt.pages)},
				Workload{})
			check(t, tt.want, got)
		})
	}
}

// A key is sent in the way that the server takes it, and the measurement then sends it so too.
func TestKeysAreSentAsTheServerTakesThem(t *testing.T) {
	for _, tt := range []struct{ engine, api, want string }{
		{"anthropic", "auto", "messages"}, {"anthropic", "messages", "messages"}, {"vllm", "auto", "chat"},
		{"vllm", "messages", "messages"},
		{"vllm", "responses", "responses"},
	} {
		url := serveSimulated(t, simserver.Options{Engine: tt.engine, APIKey: "sk-1", Strict: tt.engine != "vllm"}, nil)
		got, p := runPreflight(t, client.Options{URL: url, API: tt.api, APIKey: "sk-1"}, Workload{})
		if got.API != tt.want || !got.Usage || p.Options().Bearer != (tt.engine == "vllm" && tt.api == "messages") {
			t.Errorf("%+v: %+v", tt, got)
		}
		if n, err := p.Count(t.Context(), "one two three four"); err != nil || n[0] < 4 {
			t.Errorf("%+v: count %d, %v", tt, n, err)
		}
		if _, err := prober(t, client.Options{URL: url, API: tt.api, APIKey: "sk-2"}).Preflight(t.Context(),
			Workload{}); err == nil {
			t.Errorf("%+v: a wrong key was accepted", tt)
		}
	}
}

// SGLang's own API is measured where it is asked for, with and without counts.
func TestSGLangAsked(t *testing.T) {
	url := serveSimulated(t, simserver.Options{Engine: "sglang", Strict: true}, nil)
	got, _ := runPreflight(t, client.Options{URL: url, API: "sglang"}, Workload{})
	check(t, met{"sglang", "Qwen2-7B", "SGLang", "0.5.2+sim", true, true, nil}, got)
	_, p := runPreflight(t, client.Options{URL: serveSimulated(t, simserver.Options{Engine: "sglang", NoUsage: true}, nil),
		API: "sglang"}, Workload{})
	if n, err := p.Count(t.Context(), "one two three four"); err != nil || n[0] != 4 || p.CountSource() != countTokenize {
		t.Errorf("count %d, %v", n, err)
	}
}

// Thinking is switched in the engine's way. A note reports where that is not possible, or not obeyed.
func TestThinkingPreflight(t *testing.T) {
	yes, no := true, false
	for name, tt := range map[string]struct {
		o     simserver.Options
		api   string
		think *bool
		note  note.Note // the only one about thinking; zero for none
	}{
		"off, vLLM":           {simserver.Options{Engine: "vllm", Think: 4}, "chat", &no, note.Note{}},
		"on, a model without": {simserver.Options{Engine: "vllm"}, "chat", &yes, noteThinkNone.New()},
		"no chat template":    {simserver.Options{Engine: "sglang"}, "sglang", &no, noteThinkNoAPI.New("sglang")},
		"strict, hosted": {simserver.Options{Engine: "vllm", Strict: true, Think: 4}, "chat", &no,
			noteRejected.New("chat_template_kwargs", "400 Bad Request: Unknown parameter: 'chat_template_kwargs'.")},
	} {
		t.Run(name, func(t *testing.T) {
			p := prober(t, client.Options{URL: serveSimulated(t, tt.o, nil), API: tt.api, Params: api.Params{Think: tt.think}})
			f, err := p.Preflight(t.Context(), Workload{})
			if err != nil {
				t.Fatal(err)
			}
			thinking := slices.ContainsFunc(f.Notes, func(n note.Note) bool { return strings.HasPrefix(n.Code, "probe.think-") })
			if tt.note.IsZero() && thinking || !tt.note.IsZero() && !slices.ContainsFunc(f.Notes, tt.note.Equal) {
				t.Errorf("notes %v, want %v", f.Notes, tt.note)
			}
			if thinks := tt.o.Think > 0 && (tt.think == nil || *tt.think); f.Thinks != thinks {
				t.Errorf("thinks %v", f.Thinks)
			}
		})
	}
}

// A note reports prompts that Ollama cuts. Its context is known once the model is loaded.
func TestOllamaContext(t *testing.T) {
	no := false
	got, p := runPreflight(t, client.Options{URL: serveSimulated(t, simserver.Options{}, ollamaPages),
		Params: api.Params{Think: &no}}, Workload{PromptTokens: 8000, OutputTokens: 100})
	if !slices.ContainsFunc(got.Notes, noteOllamaCuts.New(8000, 100, 4096, 8100).Equal) {
		t.Errorf("notes %v", got.Notes)
	}
	if !p.Options().Params.Fields.ReasoningEffort {
		t.Error("Ollama's field for thinking is not used")
	}
}

// The metrics of all engines that have them are understood.
func TestEngineLoad(t *testing.T) {
	for engine, known := range map[string]bool{
		"vllm": true, "sglang": true, "anthropic": false,
	} {
		t.Run(engine, func(t *testing.T) {
			p := prober(t, client.Options{URL: serveSimulated(t, simserver.Options{Engine: engine}, nil),
				Params: api.Params{Model: "m"}})
			l, err := p.Load(t.Context())
			if (err == nil) != known || known && math.IsNaN(l.Running+l.Waiting) {
				t.Errorf("%+v %v", l, err)
			}
		})
	}
}
