package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// bodies keeps the bodies that are sent to a server.
type bodies struct {
	http.Handler
	mu  sync.Mutex
	all [][]byte
}

func (b *bodies) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if len(body) > 0 {
		b.mu.Lock()
		b.all = append(b.all, body)
		b.mu.Unlock()
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	b.Handler.ServeHTTP(w, r)
}

// TestMaxTokensIsACap measures answers that end by themselves: nothing forbids an end, no length is called wrong, and
// the distribution of the lengths is that of the records.
func TestMaxTokensIsACap(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		server := &bodies{Handler: w.simulated(simserver.Options{Natural: simserver.NaturalLength{Tokens: 60}})}
		url, _ := w.server(server)
		_, errs := w.must("run", url, "--concurrency", "8", "--requests", "60", "--prompt-tokens", "32", "--max-tokens",
			"80", "--warmup", "1", "--no-selftest",
			"--plain", "--out", w.path("run"))
		asked := 0
		for _, b := range server.all {
			body := gjson.ParseBytes(b)
			if body.Get("ignore_eos").Exists() || body.Get("min_tokens").Exists() {
				t.Fatalf("an end is forbidden: %.300s", b)
			}
			if body.Get("max_tokens").Int() == 80 {
				asked++
			}
		}
		if asked < 60 {
			t.Errorf("%d requests with max_tokens 80", asked)
		}
		run := open(t, w.path("run"))
		if !run.Workload.Capped || run.Workload.Forced || run.Workload.OutputTokens.Mean != 80 {
			t.Errorf("workload %+v", run.Workload)
		}
		got := &run.Stages[0].OfWholeRun().OutputTokens
		lengths := lengthsOf(t, w.path("run"), run.Stages[0].Name)
		cut := 0.0
		for _, n := range lengths {
			if n == 80 {
				cut++
			}
		}
		if share := cut / 60; len(lengths) != 60 || share == 0 || share == 1 || got.AtLimit.Value() != share ||
			got.P50.Value() != (lengths[29]+lengths[30])/2 || got.Max.Value() != 80 {
			t.Errorf("%+v of %v", got, lengths)
		}
		for _, report := range []string{w.report("run", "console", "en"), w.report("run", "markdown", "en"),
			w.report("run", "html", "en")} {
			if !strings.Contains(report, "up to 80 tokens") || !strings.Contains(report, "cut at the limit") ||
				strings.Contains(report, "not as long as") {
				t.Errorf("%.3000s", report)
			}
		}
		if zh := w.report("run", "markdown", "zh"); !strings.Contains(zh, "最多 80 个 token") || !strings.Contains(zh, "达到上限") {
			t.Error(zh)
		}
		if stress := w.report("run", "stress", "en"); strings.Contains(stress, "length") ||
			!strings.Contains(stress, "up to 80 tokens") {
			t.Error(stress)
		}
		if strings.Contains(errs, "length") {
			t.Error(errs)
		}
	})
}

// report renders a run directory.
func (w *world) report(dir, format, lang string) string {
	w.t.Helper()
	out, _ := w.must("report", w.path(dir), "--format", format, "--lang", lang, "--all")
	return out
}

// lengthsOf returns the lengths of a stage's answers, in order.
func lengthsOf(t *testing.T, dir, stage string) []float64 {
	t.Helper()
	var all []float64
	for r, err := range store.Records(dir) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Stage == stage && r.OK() {
			all = append(all, r.OutputTokens.Value())
		}
	}
	slices.Sort(all)
	return all
}

// TestSaturationOfNaturalLengths sweeps servers whose answers end by themselves, far below the cap: the saturation rate
// and the output are those of the mean length.
func TestSaturationOfNaturalLengths(t *testing.T) {
	if testing.Short() {
		t.Skip("5 s of processor time; TestMaxTokensIsACap runs the same paths")
	}
	for name, natural := range map[string]simserver.NaturalLength{"log-normal": {Tokens: 12}, "even": {}} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				const limit = 40
				config, err := sim.Preset("plain8")
				if err != nil {
					t.Fatal(err)
				}
				url, _ := w.server(w.simulation(config, simserver.Options{Natural: natural}))
				w.must("sweep", url, "--prompt-tokens", "64", "--max-tokens", fmt.Sprint(limit), "--stage-time", "8s", "--points",
					"4", "--warmup", "1", "--no-selftest", "--plain",
					"--out", w.path("sweep"))
				mean := natural.Mean(limit, 0)
				capacity := sim.CapacityOf(config, sim.Workload{PromptTokens: 64, OutputTokens: int(math.Round(mean))})
				run := open(t, w.path("sweep"))
				if off := run.Saturation.Rate.Value()/capacity.RequestsPerSecond - 1; math.Abs(off) > 0.1 {
					t.Errorf("saturates at %v of %v req/s", run.Saturation.Rate.Value(), capacity.RequestsPerSecond)
				}
				for i := range run.Stages {
					st := &run.Stages[i]
					above := st.Rate.Known() && st.Rate.Value() > 1.15*capacity.RequestsPerSecond
					below := st.Rate.Known() && st.Rate.Value() < 0.85*capacity.RequestsPerSecond
					// rows of seconds may be undecided
					if below && st.Verdict == rundir.Saturated || above && st.Verdict == rundir.Stable {
						t.Errorf("%s is %s at a capacity of %v", st.Name, st.Verdict, capacity.RequestsPerSecond)
					}
					const varies = 0.7 // at most: the coefficient of variation of the lengths
					if off := st.OutputTokens.Mean.Value()/mean - 1; math.Abs(off) > 4*varies/math.Sqrt(float64(st.OutputTokens.N)) {
						t.Errorf("%s: answers of %v tokens, want %v", st.Name, st.OutputTokens.Mean.Value(), mean)
					}
					if st.Shortened.Known() {
						t.Errorf("%s: answers are called shortened", st.Name)
					}
				}
			})
		})
	}
}

// TestReasoningIsToldApart measures a model with thinking and without: the first token of the answer itself has a
// column of its own, and the tokens of the text are not called lost.
func TestReasoningIsToldApart(t *testing.T) {
	for name, options := range map[string]simserver.Options{
		"single tokens": {Think: 40}, "packed": {Think: 40, ChunkTokens: 8},
		"log-normal": {Think: 40, Natural: simserver.NaturalLength{Tokens: 60}},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				url, _ := w.server(w.simulated(options))
				think := func(flag, dir string) (string, *rundir.Stage) {
					block, _ := w.must("run", url, "--api", "chat", flag, "--concurrency", "8", "--requests", "40", "--prompt-tokens",
						"32", "--max-tokens", "160",
						"--warmup", "1", "--no-selftest", "--plain", "--format", "serving", "--out", w.path(dir))
					if strings.Contains(block, "repeats or loses") {
						t.Errorf("%s:\n%s", flag, block)
					}
					return block, open(t, w.path(dir)).Stages[0].OfWholeRun()
				}
				block, st := think("--think", "think")
				// 40 tokens come before the answer.
				if least := st.TTFT.Mean.Value() + 39*0.9*st.InterToken.Value(); st.FirstAnswer.N != 40 ||
					st.FirstAnswer.Mean.Value() < least {
					t.Errorf("first answer %+v, want %v at least", st.FirstAnswer, least)
				}
				if off := st.OutputTokens.Retokenized.Value() / st.OutputTokens.Total.Value(); math.Abs(off-1) > 0.02 {
					t.Errorf("%v tokens of %v", st.OutputTokens.Retokenized, st.OutputTokens.Total)
				}
				if !strings.Contains(block, "Answers begin with reasoning") ||
					!strings.Contains(w.report("think", "console", "en"), "first answer") ||
					!strings.Contains(w.report("think", "markdown", "zh"), "首个回答 token") {
					t.Error(block)
				}
				if out, _ := w.must("audit", w.path("think")); strings.Contains(out, "retokenized") {
					t.Error(out)
				}
				block, st = think("--no-think", "plain")
				if st.FirstAnswer.N != 0 || strings.Contains(block, "reasoning") ||
					strings.Contains(w.report("plain", "console", "en"), "first answer") {
					t.Errorf("%+v\n%s", st.FirstAnswer, block)
				}
			})
		})
	}
}

// TestRequestsScaleWithConcurrency asks for a multiple of the requests in flight.
func TestRequestsScaleWithConcurrency(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		w.must(brief("run", "sim:", "--concurrency", "2,4", "--requests", "3x", "--out", w.path("run"))...)
		for i, want := range []int{6, 12} {
			if st := open(t, w.path("run")).Stages[i].OfWholeRun(); st.Requests.OK != want {
				t.Errorf("%s: %d requests, want %d", st.Name, st.Requests.OK, want)
			}
		}
		w.must(brief("run", "sim:", "--rate", "9", "--max-concurrency", "5", "--requests", "2x", "--out", w.path("open"))...)
		if got := open(t, w.path("open")).Stages[0].Requests.OK; got != 10 {
			t.Errorf("%d requests with at most 5 in flight", got)
		}
		w.must(brief("run", "sim:", "--config", w.write("c.yaml", "concurrency: 2\nrequests: 7\n"), "--out",
			w.path("config"))...)
		if got := open(t, w.path("config")).Stages[0].OfWholeRun().Requests.OK; got != 7 {
			t.Errorf("%d requests by the configuration", got)
		}
		// Where nothing is said there are ten requests for each place, and as many as a p90 needs. Conversations have
		// several.
		w.must(brief("run", "sim:", "--concurrency", "1,4,12", "--out", w.path("default"))...)
		for i, want := range []int{66, 66, 120} {
			if st := open(t, w.path("default")).Stages[i].OfWholeRun(); st.Requests.OK != want {
				t.Errorf("%s: %d requests by default, want %d", st.Name, st.Requests.OK, want)
			}
		}
		w.must(brief("run", "sim:", "--concurrency", "2", "--turns", "5", "--out", w.path("turns"))...)
		if got := open(t, w.path("turns")).Stages[0].OfWholeRun().Requests.OK; got != 100 {
			t.Errorf("%d turns by default, want 20 conversations of 5", got)
		}
		for _, bad := range [][]string{{"--rate", "3", "--requests", "2x"}, {"--concurrency", "3", "--requests", "0x"},
			{"--concurrency", "3", "--requests", "1.5"}} {
			if code, _, errs := w.llmsweep(append([]string{"run", "sim:"}, bad...)...); code != console.WrongUsage ||
				!strings.Contains(errs, "--requests") {
				t.Errorf("%q: exit %d\n%s", bad, code, errs)
			}
		}
	})
}
