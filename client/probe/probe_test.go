package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/note"
	"llmsweep/client/testkit"
)

// fake is a server whose answers a test sets.
type fake struct {
	models  string            // /v1/models' answer; "" for none
	pages   map[string]string // other paths' answers
	header  map[string]string // on every answer
	rejects map[string]string // body fields that are refused, with the message
	chat    func(a *asked)    // default: speak one chunk a token
	text    func(a *asked)    // the same for completions
	asked   []map[string]any  // the bodies that came
	letters bool              // a prompt has as many tokens as letters, and not 21
	auth    string            // wanted Authorization
	mu      sync.Mutex
}

// asked is one request to generate.
type asked struct {
	w     http.ResponseWriter
	body  map[string]any
	n     int // max_tokens
	said  int // prompt tokens
	usage bool
	all   bool // running counts
}

const vllmModels = `{"object":"list","data":[{"id":"Qwen2-7B","owned_by":"vllm","max_model_len":4096}]}`

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for k, v := range f.header {
		w.Header().Set(k, v)
	}
	if f.auth != "" && r.Header.Get("Authorization") != f.auth {
		refuse(w, 401, "Unauthorized: "+r.Header.Get("Authorization"))
		return
	}
	page, ok := f.pages[r.URL.Path]
	switch {
	case r.URL.Path == "/v1/models" && f.models != "":
		io.WriteString(w, f.models)
	case ok:
		io.WriteString(w, page)
	case r.URL.Path == "/v1/chat/completions" && f.chat != nil:
		f.generate(w, r, f.chat)
	case r.URL.Path == "/v1/completions" && f.text != nil:
		f.generate(w, r, f.text)
	default:
		refuse(w, 404, "Not Found")
	}
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message}})
}

// generate refuses what a strict server would, and then answers.
func (f *fake) generate(w http.ResponseWriter, r *http.Request, answer func(*asked)) {
	a := &asked{w: w, said: 21}
	json.NewDecoder(r.Body).Decode(&a.body)
	if messages, _ := a.body["messages"].([]any); f.letters {
		text, _ := messages[0].(map[string]any)["content"].(string)
		a.said = len(text)
	}
	f.mu.Lock()
	f.asked = append(f.asked, a.body)
	f.mu.Unlock()
	for _, field := range []string{"min_tokens", "ignore_eos", "stream_options", "max_tokens"} {
		if said, ok := f.rejects[field]; ok && a.body[field] != nil {
			refuse(w, 400, said)
			return
		}
	}
	for _, field := range []string{"max_tokens", "max_completion_tokens"} {
		if n, ok := a.body[field].(float64); ok {
			a.n = int(n)
		}
	}
	options, _ := a.body["stream_options"].(map[string]any)
	a.usage = options["include_usage"] == true
	a.all = options["continuous_usage_stats"] == true
	answer(a)
}

// say sends a chunk with text under a key, after which sofar tokens have been sent.
func (a *asked) say(key string, sofar int) {
	usage := ""
	if a.all {
		usage = fmt.Sprintf(`,"usage":{"prompt_tokens":21,"completion_tokens":%d}`, sofar)
	}
	fmt.Fprintf(a.w, "data: {\"choices\":[{\"delta\":{%q:\"w%d \"},\"finish_reason\":null}]%s}\n\n", key, sofar, usage)
	http.NewResponseController(a.w).Flush()
}

// end sends finish, usage and terminator.
func (a *asked) end(reason string, tokens int) {
	fmt.Fprintf(a.w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":%q}]}\n\n", reason)
	if a.usage {
		fmt.Fprintf(a.w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":%d}}\n\n", a.said,
			tokens)
	}
	io.WriteString(a.w, "data: [DONE]\n\n")
}

// forced returns an answer with exactly as many tokens as asked, in chunks of the given number of tokens.
func forced(chunk int) func(*asked) {
	return func(a *asked) {
		for n := 0; n < a.n; {
			n = min(n+chunk, a.n)
			a.say("content", n)
		}
		a.end("length", a.n)
	}
}

// short answers with two tokens whatever was asked.
func short(a *asked) {
	a.say("content", 1)
	a.say("content", 2)
	a.end("stop", 2)
}

// thinking answers with reasoning only.
func thinking(a *asked) {
	for n := range a.n {
		a.say("reasoning_content", n+1)
	}
	a.end("length", a.n)
}

func serve(t testing.TB, h http.Handler) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func prober(t testing.TB, o client.Options) *Prober {
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// heldBack reports whether a note says that all chunks arrived together.
func heldBack(n note.Note) bool { return n.Is(noteHeldBack) }

func TestPreflight(t *testing.T) {
	const unrecognized = "Unrecognized request argument supplied: "
	refused := func(field, message string) note.Note { return noteRejected.New(field, "400 Bad Request: "+message) }
	vllm := func(chat func(*asked)) *fake { return &fake{models: vllmModels, chat: chat} }
	strict := func(chat func(*asked), rejects map[string]string) *fake {
		return &fake{models: vllmModels, chat: chat, rejects: rejects}
	}
	for name, tt := range map[string]struct {
		server     *fake
		model, api string
		want       func(f *Facts) // what is other than on a plain vLLM
	}{
		"plain": {server: vllm(forced(1)), want: func(*Facts) {}},
		"completions asked for": {server: &fake{models: vllmModels, chat: forced(1), text: forced(1)}, api: "completions",
			want: func(f *Facts) { f.API = "completions" }},
		"Ollama": {model: "tiny",
			server: &fake{models: `{"data":[{"id":"tiny:latest","owned_by":"library"},{"id":"big:latest"}]}`,
				chat: forced(1), pages: map[string]string{"/api/version": `{"version":"0.17.4"}`}},
			want: func(f *Facts) {
				f.Model, f.Models = "tiny:latest", []string{"tiny:latest", "big:latest"}
				f.Engine, f.Version, f.MaxModelLen, f.LengthForced = "Ollama", "0.17.4", 0, false
				f.Notes = []note.Note{noteNotForced.New("Ollama")}
			}},
		"llama.cpp": {server: &fake{models: `{"data":[{"id":"m.gguf","owned_by":"llamacpp"}]}`, chat: forced(1),
			header: map[string]string{"Server": "llama.cpp"},
			pages:  map[string]string{"/props": `{"build_info":"b11669","default_generation_settings":{"n_ctx":300}}`}},
			want: func(f *Facts) {
				f.Model, f.Models = "m.gguf", []string{"m.gguf"}
				f.Engine, f.Version, f.MaxModelLen = "llama.cpp", "b11669", 300
				f.Notes = []note.Note{noteTooLong.New(512, 128, 300)}
			}},
		"unknown engine": {server: &fake{models: `[{"id":"a"},{"id":"b"}]`, chat: short}, want: func(f *Facts) {
			f.Model, f.Models, f.Engine, f.MaxModelLen, f.LengthForced = "a", []string{"a", "b"}, "", 0, false
			f.Notes = []note.Note{noteFirstModel.New(2, "a"), noteShorter.New(24, 2)}
		}},
		"no list of models": {server: &fake{chat: forced(1)}, model: "mine",
			want: func(f *Facts) { f.Model, f.Models, f.Engine, f.MaxModelLen = "mine", nil, "", 0 }},
		"strict": {server: strict(short, map[string]string{"min_tokens": unrecognized + "min_tokens",
			"ignore_eos": unrecognized + "ignore_eos"}), want: func(f *Facts) {
			f.LengthForced, f.Fields, f.Rejected = false, api.Fields{StreamUsage: true}, []string{"min_tokens", "ignore_eos"}
			f.Notes = []note.Note{refused("min_tokens", unrecognized+"min_tokens"),
				refused("ignore_eos", unrecognized+"ignore_eos"), noteNoIgnoreEOS.New()}
		}},
		"strict and silent": {server: strict(short, map[string]string{"min_tokens": "no", "ignore_eos": "no",
			"stream_options": "no"}), want: func(f *Facts) {
			f.Usage, f.LengthForced, f.Fields = false, false, api.Fields{}
			f.Rejected = []string{"min_tokens", "ignore_eos", "stream_options"}
			f.Notes = []note.Note{refused("min_tokens", "no"), refused("ignore_eos", "no"), refused("stream_options", "no"),
				noteNoIgnoreEOS.New(), noteChunksCounted.New()}
		}},
		"another name for the length": {server: strict(forced(1), map[string]string{
			"max_tokens": "not supported, use max_completion_tokens"}), want: func(f *Facts) {
			f.Fields.MaxCompletionTokens, f.Rejected = true, []string{"max_tokens"}
			f.Notes = []note.Note{refused("max_tokens", "not supported, use max_completion_tokens")}
		}},
		"a base model": {server: &fake{models: vllmModels, text: forced(1),
			chat: func(a *asked) { refuse(a.w, 400, "no chat template") }}, want: func(f *Facts) {
			f.API, f.Notes = "completions", []note.Note{noteCompletions.New("400 Bad Request: no chat template")}
		}},
		"several tokens a chunk": {server: vllm(forced(4)), want: func(f *Facts) {
			f.TokensPerChunk, f.Fields.ContinuousUsage, f.Notes = 4, true, []note.Note{noteCountsRunning.New(4)}
		}},
		"several tokens a chunk, not reported": {server: vllm(func(a *asked) { a.all = false; forced(8)(a) }),
			want: func(f *Facts) { f.TokensPerChunk, f.Notes = 8, []note.Note{noteCountsNone.New(8)} }},
		"thinking": {server: vllm(thinking), want: func(f *Facts) { f.Thinks = true }},
		"chunks of an unknown number of tokens": {server: vllm(func(a *asked) { a.usage = false; short(a) }),
			want: func(f *Facts) { f.Usage, f.LengthForced, f.Notes = false, false, []note.Note{noteChunksCounted.New()} }},
		"a count that cannot be": {server: vllm(func(a *asked) {
			for n := range a.n {
				a.say("content", n+1)
			}
			a.end("length", 10*a.n)
		}), want: func(f *Facts) {
			f.TokensPerChunk, f.LengthForced = 10, false
			f.Notes = []note.Note{noteCountDoubtful.New(24, 24, 240), noteCountsNone.New(10)}
		}},
		"the 128 trap": {server: vllm(func(a *asked) { a.n = 128; forced(1)(a) }),
			want: func(f *Facts) { f.LengthForced, f.Notes = false, []note.Note{noteLengthIgnored.New(24, 128)} }},
	} {
		t.Run(name, func(t *testing.T) {
			p := prober(t, client.Options{URL: serve(t, tt.server), API: tt.api, Params: api.Params{Model: tt.model}})
			got, err := p.Preflight(t.Context(), Workload{PromptTokens: 512, OutputTokens: 128})
			if err != nil {
				t.Fatal(err)
			}
			if got.Latency <= 0 {
				t.Error("no latency")
			}
			// Chunks of a loopback server can be received together by chance.
			got.Notes = slices.DeleteFunc(got.Notes, heldBack)
			want := Facts{API: "chat", Model: "Qwen2-7B", Models: []string{"Qwen2-7B"}, Engine: "vLLM", MaxModelLen: 4096,
				Streams: true, Usage: true, LengthForced: true, TokensPerChunk: 1, Fields: api.AllFields}
			tt.want(&want)
			if d := cmp.Diff(want, got, cmpopts.IgnoreFields(Facts{}, "Latency"), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("-want +got\n%s", d)
			}
			o := p.Options()
			if o.API != got.API || o.Params.Model != got.Model || o.Params.Fields != got.Fields {
				t.Errorf("options %+v", o)
			}
		})
	}
}

// A stream that a proxy held back is reported, and not taken for a fast server.
func TestHeldBack(t *testing.T) {
	held := func(a *asked) {
		r := httptest.NewRecorder()
		w := a.w
		a.w = r
		forced(1)(a)
		w.Write(r.Body.Bytes())
	}
	p := prober(t, client.Options{URL: serve(t, &fake{models: vllmModels, chat: held})})
	f, err := p.Preflight(t.Context(), Workload{})
	want := []note.Note{noteHeldBack.New(24)}
	if d := cmp.Diff(want, f.Notes); err != nil || d != "" {
		t.Errorf("%v, -want +got\n%s", err, d)
	}
}

func TestCount(t *testing.T) {
	silent := func(a *asked) { a.usage = false; forced(1)(a) }
	for name, tt := range map[string]struct {
		server *fake
		n      int
		source string
		err    string
	}{
		"usage": {&fake{chat: forced(1)}, 21, countUsage, ""},
		"vLLM": {&fake{chat: silent, pages: map[string]string{"/tokenize": `{"count":3,"tokens":[1,2,3]}`}}, 3,
			countTokenize, ""},
		"llama.cpp": {&fake{chat: silent, pages: map[string]string{"/tokenize": `{"tokens":[1,2]}`}}, 2, countTokenize, ""},
		"unknown": {&fake{chat: silent}, 0, "",
			"/v1/chat/completions: the server does not tell how many tokens a prompt has. " +
				"Lengths cannot be set by its count; name a --tokenizer."},
		"refused": {&fake{chat: func(a *asked) { refuse(a.w, 400, "too long") }}, 0, "",
			"/v1/chat/completions: 400 Bad Request: too long. The server rejects the request; --body changes its fields."},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, tt.server)
			p := prober(t, client.Options{URL: url, API: "chat", Params: api.Params{Model: "m", Fields: api.AllFields}})
			n, err := p.Count(t.Context(), "some text")
			said := ""
			if err != nil {
				said = strings.TrimPrefix(err.Error(), url)
			}
			if err == nil && n[0] != tt.n || p.CountSource() != tt.source || said != tt.err {
				t.Errorf("%d from %q, error %q", n, p.CountSource(), said)
			}
			body := tt.server.asked[0]
			messages, _ := json.Marshal(body["messages"])
			if body["max_tokens"] != 1.0 || string(messages) != `[{"content":"some text","role":"user"}]` {
				t.Errorf("asked %v", body)
			}
		})
	}
}

// The most requests of a preflight that cost something, with a server that makes it try every API: chat is not there,
// completions and responses answer in one piece, and messages sends its stream at once. All of them are paced.
func TestMaxPaidRequests(t *testing.T) {
	var paid, paced atomic.Int32
	all := testkit.Captures(t)
	messages := all[slices.IndexFunc(all, func(c testkit.Capture) bool { return c.Name == "vllm-0.32.0-messages" })].Stream
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := map[string]string{"/v1/completions": `{"choices":[]}`, "/v1/responses": `{"choices":[]}`,
			"/v1/messages": string(messages)}[r.URL.Path]
		switch {
		case r.Method != http.MethodPost:
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
		case !ok:
			http.NotFound(w, r)
		default:
			paid.Add(1)
			io.WriteString(w, answer)
		}
	}))
	p := prober(t, client.Options{URL: url, Params: api.Params{Fields: api.AllFields}})
	p.Pace = func(context.Context, int) { paced.Add(1) }
	f, err := p.Preflight(t.Context(), Workload{})
	if err != nil || f.API != "messages" || paid.Load() != MaxPaidRequests || paced.Load() < MaxPaidRequests {
		t.Errorf("%v, API %s, %d paid requests of at most %d, %d paced", err, f.API, paid.Load(), MaxPaidRequests,
			paced.Load())
	}
}
