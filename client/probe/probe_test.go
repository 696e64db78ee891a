package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/note"
	simserver "llmsweep/client/sim/server"
	"llmsweep/client/testkit"
)

func TestMain(m *testing.M) {
	testkit.ClearEnvironment()
	os.Exit(m.Run())
}

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
	r     *http.Request
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
	a := &asked{w: w, r: r, said: 21}
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

// serveCase serves what a case describes, and sets options: a simulated engine, or what is answered to chat and to
// completions; and how else it differs from a plain vLLM.
func serveCase(t *testing.T, text string, o *client.Options) {
	var engine simserver.Options
	answer := func(words string) func(*asked) {
		name, rest, _ := strings.Cut(words, " ")
		n, _ := strconv.Atoi(rest)
		return map[string]func(*asked){"forced": forced(max(n, 1)), "short": short, "thinking": thinking,
			"refused":     func(a *asked) { refuse(a.w, 400, rest) },
			"silent":      func(a *asked) { a.usage, a.all = false, false; short(a) },
			"not-running": func(a *asked) { a.all = false; forced(n)(a) },
			"always":      func(a *asked) { a.n = n; forced(1)(a) },
			"times": func(a *asked) {
				for i := range a.n {
					a.say("content", i+1)
				}
				a.end("length", n*a.n)
			}}[name]
	}
	f := &fake{models: vllmModels, pages: map[string]string{}, header: map[string]string{}, rejects: map[string]string{}}
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, value, _ := strings.Cut(rest, ": ")
		switch word {
		case "chat":
			f.chat = answer(rest)
		case "text":
			f.text = answer(rest)
		case "models":
			f.models = rest
		case "page":
			f.pages[name] = value
		case "header":
			f.header[name] = value
		case "rejects":
			f.rejects[name] = value
		case "engine":
			if err := json.Unmarshal([]byte(rest), &engine); err != nil {
				t.Fatal(err)
			}
		case "--think":
			think := rest == "true"
			o.Params.Think = &think
		case "--model":
			o.Params.Model = rest
		case "--api":
			o.API = rest
		default:
			t.Fatal(line)
		}
	}
	if o.URL = serve(t, f); engine.Engine != "" {
		o.URL = serveSimulated(t, engine, f.pages)
	}
}

// What a preflight finds out about servers, for 512 and 128 tokens: all about the first, and of others what differs.
func TestPreflight(t *testing.T) {
	var plain reflect.Value
	testkit.CheckCases(t, "preflights/*.txt", func(t *testing.T, text string, first bool) string {
		var o client.Options
		serveCase(t, text, &o)
		p := prober(t, o)
		f, err := p.Preflight(t.Context(), Workload{PromptTokens: 512, OutputTokens: 128})
		if err != nil || f.Latency <= 0 {
			t.Fatal(err, f.Latency)
		}
		o = p.Options()
		if o.API != f.API || o.Params.Model != f.Model || o.Params.Fields != f.Fields {
			t.Errorf("options %+v", o)
		}
		var told strings.Builder
		// Chunks of a loopback server can be received together by chance.
		for _, n := range slices.DeleteFunc(f.Notes, heldBack) {
			fmt.Fprintf(&told, "  %s %v\n", n.Code, n.Args)
		}
		f.Latency, f.Notes = 0, nil
		v := reflect.ValueOf(f)
		if first {
			plain = v
		}
		for i := range v.NumField() {
			if first || fmt.Sprint(v.Field(i)) != fmt.Sprint(plain.Field(i)) {
				fmt.Fprintln(&told, strings.TrimRight(fmt.Sprintf("  %s %+v", v.Type().Field(i).Name, v.Field(i)), " "))
			}
		}
		return told.String()
	})
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
