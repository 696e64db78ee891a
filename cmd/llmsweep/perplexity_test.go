package main

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/perplexity"
	"llmsweep/sweep/rundir"
)

// prose returns a text of n words.
func prose(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(simserver.Word(5, i))
		if i%17 == 16 {
			fmt.Fprintf(&b, " word%d", i)
		}
	}
	return b.String()
}

// scored measures a short load after the windows of a text on a server, and returns the run and what was printed.
func (w *world) scored(name, text string, h http.Handler, more ...string) (*rundir.Run, string) {
	w.t.Helper()
	url, stop := w.server(h)
	defer stop()
	out, _ := w.must(append([]string{"run", url, "--concurrency", "2", "--requests", "6", "--prompt-tokens", "8", "--output-tokens", "2", "--warmup", "1", "--no-selftest",
		"--text", text, "--out", w.path(name)}, more...)...)
	return open(w.t, w.path(name)), out
}

// simulatedNLL returns the simulated log-likelihood of what the windows of a text score, in nats, by the simulator's own formula.
func simulatedNLL(text string, shift float64) (nats float64, tokens, bytes int) {
	cut, err := perplexity.Cut("", text, perplexity.DefaultBytes, perplexity.MostWindows)
	if err != nil {
		panic(err)
	}
	last := cut.Windows[len(cut.Windows)-1]
	at, before := 0, ""
	for _, piece := range simserver.Pieces(text[:last.At+len(last.Text)]) {
		if at >= cut.Windows[0].Context {
			nats, tokens, bytes = nats-simserver.Rounded(before, piece, shift), tokens+1, bytes+len(piece)
		}
		at, before = at+len(piece), piece
	}
	return nats, tokens, bytes
}

// The perplexity of each kind of server is exactly the simulator's, and a quantized one's is higher by what the simulator computes.
func TestPerplexity(t *testing.T) {
	text := prose(8000)
	for name, c := range map[string]struct {
		options simserver.Options
		habits  []string
		shift   float64
		way     string
	}{
		"vLLM":      {way: "prompt_logprobs"},
		"by echo":   {options: simserver.Options{Strict: true}, way: "echo"},
		"SGLang":    {options: simserver.Options{Engine: "sglang"}, way: "sglang"},
		"quantized": {habits: []string{"rounds:20%,shift=0.2"}, shift: 0.2, way: "prompt_logprobs"},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				run, out := w.scored("run", w.write("a.txt", text), w.differing(c.options, c.habits...))
				p := run.Perplexity
				nats, tokens, bytes := simulatedNLL(text, c.shift)
				if p.Way != c.way || p.Tokens != tokens || p.Scored != bytes || math.Abs(p.NLL.Mean.Value()-nats/float64(tokens)) > 1e-6 {
					t.Errorf("%s: %d tokens, %d bytes, %v nats; want %d, %d, %g", p.Way, p.Tokens, p.Scored, p.NLL.Mean, tokens, bytes, nats/float64(tokens))
				}
				if got, want := p.BitsPerByte.Mean.Value(), nats/math.Ln2/float64(bytes); math.Abs(got-want) > 1e-6 || math.Abs(math.Log(p.Perplexity.Mean.Value())-p.NLL.Mean.Value()) > 1e-9 {
					t.Errorf("%g bits per byte, want %g", got, want)
				}
				if !strings.Contains(out, "Perplexity of a.txt: "+fmt.Sprintf("%.3f (", p.Perplexity.Mean.Value())) {
					t.Error(out)
				}
				if zh, _ := w.must("report", w.path("run"), "--lang", "zh"); !strings.Contains(zh, "a.txt 的困惑度") {
					t.Error(zh)
				}
			})
		})
	}
}

// Without scores that are what they should be there is no number, and the reason is told.
func TestNoPerplexity(t *testing.T) {
	text := prose(6000)
	// spoiled answers windows with one in which a text is replaced.
	spoiled := func(w *world, old, other string) http.Handler {
		inner := w.differing(simserver.Options{})
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			if !strings.Contains(string(body), "prompt_logprobs") {
				inner.ServeHTTP(rw, r)
				return
			}
			kept := &memory{header: http.Header{}}
			inner.ServeHTTP(kept, r)
			rw.Header().Set("Content-Type", "application/json")
			io.WriteString(rw, strings.ReplaceAll(kept.String(), old, other))
		})
	}
	for name, c := range map[string]struct {
		server func(w *world) http.Handler
		says   string
	}{
		"ignored":     {func(w *world) http.Handler { return w.differing(simserver.Options{Engine: "llamacpp"}) }, "it ignores prompt_logprobs, echo"},
		"refused":     {func(w *world) http.Handler { return w.differing(simserver.Options{NoLogProbs: true, Strict: true}) }, "refuses to score prompts by prompt_logprobs, echo, sglang"},
		"another":     {func(w *world) http.Handler { return spoiled(w, `"decoded_token":" the"`, `"decoded_token":" tho"`) }, "are not those of the text"},
		"impossible":  {func(w *world) http.Handler { return spoiled(w, `"logprob":-5.`, `"logprob":-9999.`) }, "the probability 0"},
		"positive":    {func(w *world) http.Handler { return spoiled(w, `"logprob":-`, `"logprob":`) }, "above 0"},
		"missing":     {func(w *world) http.Handler { return spoiled(w, `"logprob":-5.`, `"logproz":-5.`) }, "have no log-probability"},
		"no numbers":  {func(w *world) http.Handler { return spoiled(w, `"logprob":-5.`, `"logprob":NaN,"x":-5.`) }, "NaN or Infinity"},
		"other count": {func(w *world) http.Handler { return spoiled(w, `"prompt_tokens":`, `"prompt_tokens":1`) }, "another number of prompt tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				run, out := w.scored("run", w.write("a.txt", text), c.server(w))
				if p := run.Perplexity; p == nil || p.NLL.Mean.Known() || p.Perplexity.Mean.Known() || p.BitsPerByte.Mean.Known() || len(p.Scores) > 0 || len(p.Notes) == 0 {
					t.Errorf("%+v", p)
				}
				if !strings.Contains(out, c.says) || !strings.Contains(out, "Perplexity of a.txt: not known") {
					t.Errorf("no %q:\n%s", c.says, out)
				}
			})
		})
	}
}

// memory keeps an answer.
type memory struct {
	strings.Builder
	header http.Header
}

func (m *memory) Header() http.Header { return m.header }
func (m *memory) WriteHeader(int)     {}
func (m *memory) Flush()              {}

// Runs that scored the same text are compared, window by window.
func TestComparePerplexity(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		text := prose(8000)
		file := w.write("a.txt", text)
		w.scored("f16", file, w.differing(simserver.Options{}))
		w.scored("same", file, w.differing(simserver.Options{Engine: "sglang"}))
		w.scored("q4", file, w.differing(simserver.Options{}, "rounds:20%,shift=0.2"))
		w.scored("other", w.write("b.txt", prose(6000)), w.differing(simserver.Options{}))
		out, _ := w.must("compare", w.path("f16"), w.path("same"), w.path("q4"), w.path("other"))
		before, tokens, _ := simulatedNLL(text, 0)
		after, _, _ := simulatedNLL(text, 0.2)
		higher := fmt.Sprintf("perplexity changes by +%.2f %%", 100*math.Expm1((after-before)/float64(tokens)))
		for _, want := range []string{"predicts the text worse than", higher, "No difference between", "the texts differ (a.txt, b.txt)"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q:\n%s", want, out)
			}
		}
		if zh, _ := w.must("compare", w.path("f16"), w.path("q4"), "--lang", "zh"); !strings.Contains(zh, "对文本的预测不如") {
			t.Error(zh)
		}
	})
}

// A run that is interrupted while windows are sent, or in a stage, goes on; a text that has changed is refused.
func TestResumedPerplexity(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		file, sent := w.write("a.txt", prose(8000)), 0
		inner := w.differing(simserver.Options{})
		url, _ := w.server(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if r.Body = io.NopCloser(strings.NewReader(string(body))); strings.Contains(string(body), "prompt_logprobs") {
				sent++
			}
			inner.ServeHTTP(rw, r)
		}))
		args := []string{"run", url, "--concurrency", "2,4", "--requests", "60", "--prompt-tokens", "8", "--output-tokens", "2", "--warmup", "1", "--no-selftest", "--text", file, "--out"}
		began := time.Now()
		w.must(append(args, w.path("whole"))...)
		took, windows := time.Since(began), sent
		whole := open(t, w.path("whole"))
		for name, at := range map[string]time.Duration{"text": took / 4, "stage": took - time.Duration(whole.Stages[1].Elapsed/2*float64(time.Second))} {
			dir := w.path(name)
			sent = 0
			w.interruptAfter(at)
			if code, _, errs := w.llmsweep(append(args, dir)...); code != console.Interrupted {
				t.Fatalf("%s: exit %d\n%s", name, code, errs)
			}
			before := sent
			w.again()
			if name == "stage" {
				os.WriteFile(file, []byte(prose(7000)), 0o644)
				if code, _, errs := w.llmsweep("resume", dir); code == 0 || !strings.Contains(errs, "another text") {
					t.Errorf("exit %d\n%s", code, errs)
				}
				os.WriteFile(file, []byte(prose(8000)), 0o644)
			}
			w.must("resume", dir)
			got := open(t, dir)
			if p := got.Perplexity; got.State != rundir.Complete || p.NLL != whole.Perplexity.NLL || p.Windows != windows {
				t.Errorf("%s: %s, %+v", name, got.State, p)
			}
			if again := sent - before; name == "stage" && again > 0 || name == "text" && (before == 0 || before == windows || again > windows) {
				t.Errorf("%s: %d windows of %d were sent, then %d", name, before, windows, again)
			}
		}
	})
}

// What --text takes is told before it is sent, flags are checked, and a budget leaves time for the load.
func TestTextFlags(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		file, short, broken := w.write("a.txt", prose(8000)), w.write("s.txt", "a few words"), w.write("x.txt", "\xff\xfe")
		out, _ := w.must("run", "http://localhost:1", "--concurrency", "1", "--requests", "4", "--text", file, "--text-windows", "7", "--dry-run")
		if !strings.Contains(out, "7 requests have a text scored") {
			t.Error(out)
		}
		for want, args := range map[string][]string{
			"belong to --text": {"--text-windows", "7"}, "fewer than one window": {"--text", short}, "no UTF-8 text": {"--text", broken},
			"--text-windows must be": {"--text", file, "--text-windows", "20000"}, "--text-bytes must be": {"--text", file, "--text-bytes", "100"}, "no such file": {"--text", w.path("none")},
		} {
			for _, lang := range []string{"en", "zh"} {
				code, _, errs := w.llmsweep(append([]string{"run", "http://localhost:1", "--concurrency", "1", "--requests", "4", "--lang", lang}, args...)...)
				if code != console.WrongUsage || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
					t.Errorf("exit %d, no %q:\n%s", code, want, errs)
				}
			}
		}
		url, _ := w.server(w.differing(simserver.Options{}))
		w.must("sweep", url, "--budget", "30s", "--points", "1", "--prompt-tokens", "8", "--output-tokens", "2", "--no-selftest", "--text", w.write("long.txt", prose(30_000)), "--text-bytes", "256", "--text-windows", "10000", "--out", w.path("budget"))
		if p := open(t, w.path("budget")).Perplexity; p.Windows == 0 || p.Windows >= p.Planned || !p.NLL.Low.Known() || len(p.Notes) != 1 {
			t.Errorf("%d of %d windows, %v", p.Windows, p.Planned, p.Notes)
		}
	})
}
