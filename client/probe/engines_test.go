package probe

import (
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

// simulated returns the URL of a fast simulated engine; with hidden it has no /v1.
func simulated(t testing.TB, o simserver.Options, hidden bool) string {
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
		if hidden && strings.HasPrefix(r.URL.Path, "/v1/") {
			http.NotFound(w, r)
			return
		}
		engine.ServeHTTP(w, r)
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

// meeting runs a preflight.
func meeting(t *testing.T, o client.Options, want Want) (met, *Prober) {
	t.Helper()
	p := prober(t, o)
	f, err := p.Preflight(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	notes := slices.DeleteFunc(f.Notes, heldBack)
	return met{f.API, f.Model, f.Engine, f.Version, f.Usage, f.LengthForced, notes}, p
}

// no404 is what a server without the path answers, as a note quotes it.
const no404 = "404 Not Found: 404 page not found"

// notForced are the notes of an engine that cannot be told to go on after a natural end.
func notForced(engine string) []note.Note { return []note.Note{noteNotForced.New(engine)} }

func check(t *testing.T, want, got met) {
	t.Helper()
	if len(want.Notes) == 0 {
		want.Notes = got.Notes[:0]
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Each engine is recognised, and measured by OpenAI's API where it has that.
func TestAuto(t *testing.T) {
	for engine, want := range map[string]met{
		"vllm":     {"chat", "Qwen2-7B", "vLLM", "0.11.0+sim", true, true, nil},
		"sglang":   {"chat", "Qwen2-7B", "SGLang", "0.5.2+sim", true, true, nil},
		"lmdeploy": {"chat", "Qwen2-7B", "lmdeploy", "", true, true, nil},
		"llamacpp": {"chat", "Qwen2-7B", "llama.cpp", "b0-sim", true, true, nil},
		"ollama":   {"chat", "Qwen2-7B", "Ollama", "0.17.4+sim", true, false, notForced("Ollama")},
		"tgi":      {"chat", "Qwen2-7B", "TGI", "2.4.1-sim", true, false, notForced("TGI")},
		"triton": {"triton", "Qwen2-7B", "Triton", "2.60.0-sim", false, false, []note.Note{
			noteNativeAPI.New(no404, "Triton", "triton"), noteNotForced.New("Triton"), noteChunksCounted.New()}},
		"triton-vllm": {"triton-vllm", "Qwen2-7B", "Triton", "2.60.0-sim", true, true,
			[]note.Note{noteNativeAPI.New(no404, "Triton", "triton-vllm")}},
		"openai": {"responses", "Qwen2-7B", "", "", true, true, []note.Note{noteNewerAPI.New(no404, "responses")}},
	} {
		t.Run(engine, func(t *testing.T) {
			got, _ := meeting(t, client.Options{URL: simulated(t, simserver.Options{Engine: engine}, false)}, Want{})
			check(t, want, got)
		})
	}
}

// A key is sent in the way that the server takes it, and the measurement then sends it so too.
func TestKeysAreSentAsTheServerTakesThem(t *testing.T) {
	for _, tt := range []struct{ engine, api, want string }{
		{"anthropic", "auto", "messages"}, {"anthropic", "messages", "messages"}, {"vllm", "auto", "chat"}, {"vllm", "messages", "messages"},
		{"openai", "responses", "responses"},
	} {
		url := simulated(t, simserver.Options{Engine: tt.engine, APIKey: "sk-1", Strict: tt.engine != "vllm"}, false)
		got, p := meeting(t, client.Options{URL: url, API: tt.api, APIKey: "sk-1"}, Want{})
		if got.API != tt.want || !got.Usage || p.Options().Bearer != (tt.engine == "vllm" && tt.api == "messages") {
			t.Errorf("%+v: %+v", tt, got)
		}
		if n, err := p.Count(t.Context(), "one two three four"); err != nil || n < 4 {
			t.Errorf("%+v: count %d, %v", tt, n, err)
		}
		if _, err := prober(t, client.Options{URL: url, API: tt.api, APIKey: "sk-2"}).Preflight(t.Context(), Want{}); err == nil {
			t.Errorf("%+v: a wrong key was accepted", tt)
		}
	}
}

// Without /v1 the engine is recognised by its own pages, and measured by its own API.
func TestAutoNative(t *testing.T) {
	for engine, want := range map[string]met{
		"sglang":   {"sglang", "Qwen2-7B", "SGLang", "0.5.2+sim", true, true, nil},
		"llamacpp": {"llamacpp", "Qwen2-7B", "llama.cpp", "b0-sim", true, true, nil},
		"ollama":   {"ollama", "Qwen2-7B", "Ollama", "0.17.4+sim", true, false, notForced("Ollama")},
		"tgi":      {"tgi", "Qwen2-7B", "TGI", "2.4.1-sim", true, false, notForced("TGI")},
	} {
		t.Run(engine, func(t *testing.T) {
			got, p := meeting(t, client.Options{URL: simulated(t, simserver.Options{Engine: engine}, true)}, Want{})
			want.Notes = append([]note.Note{noteNativeAPI.New(no404, want.Engine, want.API)}, want.Notes...)
			check(t, want, got)
			n, err := p.Count(t.Context(), "one two three four")
			if err != nil || n < 4 || p.CountSource() != countUsage {
				t.Errorf("count %d, %v", n, err)
			}
		})
	}
}

// A native API is measured where it is asked for, with and without counts.
func TestNativeAsked(t *testing.T) {
	for engine, tt := range map[string]struct {
		api  string
		want met
		n    int // what Count says of four words without usage; 0 for an error
	}{
		"sglang":      {"sglang", met{"sglang", "Qwen2-7B", "SGLang", "0.5.2+sim", true, true, nil}, 4},
		"lmdeploy":    {"lmdeploy", met{"lmdeploy", "Qwen2-7B", "lmdeploy", "", true, true, nil}, 4},
		"llamacpp":    {"llamacpp", met{"llamacpp", "Qwen2-7B", "llama.cpp", "b0-sim", true, true, nil}, 4},
		"tgi":         {"tgi", met{"tgi", "Qwen2-7B", "TGI", "2.4.1-sim", true, false, notForced("TGI")}, 4},
		"ollama":      {"ollama-generate", met{"ollama-generate", "Qwen2-7B", "Ollama", "0.17.4+sim", true, false, notForced("Ollama")}, 0},
		"triton-vllm": {"triton", met{"triton-vllm", "Qwen2-7B", "Triton", "2.60.0-sim", true, true, []note.Note{noteTritonVLLM.New()}}, 0},
	} {
		t.Run(engine, func(t *testing.T) {
			got, _ := meeting(t, client.Options{URL: simulated(t, simserver.Options{Engine: engine}, false), API: tt.api}, Want{})
			check(t, tt.want, got)
			o := simserver.Options{Engine: engine, NoUsage: true}
			_, p := meeting(t, client.Options{URL: simulated(t, o, false), API: tt.api}, Want{})
			if n, err := p.Count(t.Context(), "one two three four"); n != tt.n || (err == nil) != (n > 0) {
				t.Errorf("count %d, %v, want %d", n, err, tt.n)
			}
		})
	}
}

// A note reports a server that ignores the requested length.
func TestPreflightOf128(t *testing.T) {
	for engine, name := range map[string]string{"sglang": "lmdeploy", "lmdeploy": "sglang"} {
		t.Run(name+" body to "+engine, func(t *testing.T) {
			url := simulated(t, simserver.Options{Engine: engine, FullLength: true}, false)
			got, _ := meeting(t, client.Options{URL: url, API: name}, Want{})
			if got.Forced || !slices.ContainsFunc(got.Notes, noteSent128.New(24, name).Equal) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Strict servers get only the fields that they know, and the rejected ones are listed.
func TestStrictEngines(t *testing.T) {
	for engine, tt := range map[string]struct {
		api      string
		rejected []string
	}{
		"vllm": {"chat", []string{"ignore_eos"}}, "sglang": {"sglang", nil}, "lmdeploy": {"lmdeploy", []string{"ignore_eos"}},
		"llamacpp": {"llamacpp", []string{"ignore_eos"}}, "ollama": {"ollama", nil}, "tgi": {"tgi", nil}, "triton": {"triton", nil},
		"triton-vllm": {"triton-vllm", []string{"stream_options"}},
	} {
		t.Run(engine, func(t *testing.T) {
			p := prober(t, client.Options{URL: simulated(t, simserver.Options{Engine: engine, Strict: true}, false), API: tt.api})
			f, err := p.Preflight(t.Context(), Want{})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(f.Rejected)
			for _, name := range tt.rejected {
				if !slices.Contains(f.Rejected, name) {
					t.Errorf("rejected %v, want %v", f.Rejected, tt.rejected)
				}
			}
			if len(tt.rejected) == 0 && len(f.Rejected) > 0 {
				t.Errorf("rejected %v", f.Rejected)
			}
		})
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
		"off, vLLM":             {simserver.Options{Engine: "vllm", Think: 4}, "chat", &no, note.Note{}},
		"off, Ollama's /v1":     {simserver.Options{Engine: "ollama", Think: 4}, "chat", &no, note.Note{}},
		"off, Ollama":           {simserver.Options{Engine: "ollama", Think: 4}, "ollama", &no, note.Note{}},
		"on, Ollama":            {simserver.Options{Engine: "ollama", Think: 4}, "ollama", &yes, note.Note{}},
		"on, a model without":   {simserver.Options{Engine: "vllm"}, "chat", &yes, noteThinkNone.New()},
		"on, Ollama without":    {simserver.Options{Engine: "ollama"}, "ollama", &yes, noteRejected.New("think", `400 Bad Request: "Qwen2-7B" does not support thinking`)},
		"no chat template":      {simserver.Options{Engine: "llamacpp"}, "llamacpp", &no, noteThinkNoAPI.New("llamacpp")},
		"strict, hosted":        {simserver.Options{Engine: "vllm", Strict: true, Think: 4}, "chat", &no, noteRejected.New("chat_template_kwargs", "400 Bad Request: Unknown parameter: 'chat_template_kwargs'.")},
		"no field for thinking": {simserver.Options{Engine: "tgi", Think: 4, ReasoningField: "reasoning"}, "chat", nil, note.Note{}},
		"no thinking, raw mode": {simserver.Options{Engine: "ollama", Think: 4}, "ollama-generate", &yes, noteThinkNoAPI.New("ollama-generate")},
	} {
		t.Run(name, func(t *testing.T) {
			p := prober(t, client.Options{URL: simulated(t, tt.o, false), API: tt.api, Params: api.Params{Think: tt.think}})
			f, err := p.Preflight(t.Context(), Want{})
			if err != nil {
				t.Fatal(err)
			}
			thinking := slices.ContainsFunc(f.Notes, func(n note.Note) bool { return strings.HasPrefix(n.Code, "probe.think-") })
			if tt.note.IsZero() && thinking || !tt.note.IsZero() && !slices.ContainsFunc(f.Notes, tt.note.Equal) {
				t.Errorf("notes %v, want %v", f.Notes, tt.note)
			}
			if thinks := tt.o.Think > 0 && (tt.think == nil || *tt.think) && tt.api != "ollama-generate"; f.Thinks != thinks {
				t.Errorf("thinks %v", f.Thinks)
			}
		})
	}
}

// A note reports prompts that Ollama cuts. Its context is known once the model is loaded.
func TestOllamaContext(t *testing.T) {
	got, _ := meeting(t, client.Options{URL: simulated(t, simserver.Options{Engine: "ollama"}, false)}, Want{PromptTokens: 8000, OutputTokens: 100})
	if !slices.ContainsFunc(got.Notes, noteOllamaCuts.New(8000, 100, 4096, 8100).Equal) {
		t.Errorf("notes %v", got.Notes)
	}
}

// The metrics of all engines that have them are understood.
func TestEngineLoad(t *testing.T) {
	for engine, known := range map[string]bool{
		"vllm": true, "sglang": true, "lmdeploy": true, "llamacpp": true, "ollama": false, "tgi": false, "triton": false,
	} {
		t.Run(engine, func(t *testing.T) {
			p := prober(t, client.Options{URL: simulated(t, simserver.Options{Engine: engine}, false), Params: api.Params{Model: "m"}})
			l, err := p.Load(t.Context())
			if l.Running.Known != known || l.Waiting.Known != known || (err == nil) != known {
				t.Errorf("%+v %v", l, err)
			}
		})
	}
}
