package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// report renders a run directory.
func (w *world) report(dir, format, lang string) string {
	w.t.Helper()
	out, _ := w.must("report", w.path(dir), "--format", format, "--lang", lang, "--all")
	return out
}

// TestMaxTokensIsACap measures answers that end by themselves: nothing forbids an end, no length is called wrong, and
// the distribution of the lengths is that of the records.
func TestMaxTokensIsACap(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		server, url := w.watched(simserver.Options{Natural: simserver.NaturalLength{Tokens: 60}})
		_, errs := w.must("run", url, "--concurrency", "8", "--requests", "60", "--prompt-tokens", "32", "--max-tokens",
			"80", "--warmup", "1", "--no-selftest", "--plain", "--out", w.path("run"))
		asked := 0
		for _, b := range server.bodies {
			body := gjson.ParseBytes(b)
			if body.Get("ignore_eos").Exists() || body.Get("min_tokens").Exists() {
				t.Fatalf("an end is forbidden: %.300s", b)
			}
			if body.Get("max_tokens").Int() == 80 {
				asked++
			}
		}
		run := open(t, w.path("run"))
		if asked < 60 || !run.Workload.Capped || run.Workload.Forced || run.Workload.OutputTokens.Mean != 80 {
			t.Errorf("%d requests with max_tokens 80, workload %+v", asked, run.Workload)
		}
		got := &run.Stages[0].OfWholeRun().OutputTokens
		var lengths []float64
		cut := 0.0
		for _, r := range recordsOf(t, w.path("run")) {
			if n := r.OutputTokens.Value(); r.Stage == run.Stages[0].Name && r.OK() {
				if lengths = append(lengths, n); n == 80 {
					cut++
				}
			}
		}
		slices.Sort(lengths)
		if share := cut / 60; len(lengths) != 60 || share == 0 || share == 1 || got.AtLimit.Value() != share ||
			got.P50.Value() != (lengths[29]+lengths[30])/2 || got.Max.Value() != 80 {
			t.Errorf("%+v of %v", got, lengths)
		}
		for what, words := range map[string][]string{"console en": {"up to 80 tokens", "cut at the limit"},
			"html en": {"up to 80 tokens", "cut at the limit"}, "markdown zh": {"最多 80 个 token", "达到上限"},
			"stress en": {"up to 80 tokens"}} {
			format, lang, _ := strings.Cut(what, " ")
			if text := w.report("run", format, lang); !containsAll(text, words...) || strings.Contains(text, "not as long as") ||
				format == "stress" && strings.Contains(text, "length") || strings.Contains(errs, "length") {
				t.Errorf("%s: %.3000s\n%s", what, text, errs)
			}
		}
	})
}

// TestSaturationOfNaturalLengths sweeps a server whose answers end by themselves, far below the cap: the saturation
// rate and the output are those of the mean length.
func TestSaturationOfNaturalLengths(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		const limit = 40
		natural, config := simserver.NaturalLength{Tokens: 12}, simtest.Preset(t, "plain8")
		url, _ := w.server(w.simulation(config, simserver.Options{Natural: natural}))
		w.must("sweep", url, "--prompt-tokens", "64", "--max-tokens", fmt.Sprint(limit), "--stage-time", "3s", "--points",
			"2", "--warmup", "1", "--no-selftest", "--plain", "--out", w.path("sweep"))
		mean := natural.Mean(limit, 0)
		load := sim.Workload{PromptTokens: 64, OutputTokens: int(math.Round(mean))}
		capacity := sim.CapacityOf(config, load).RequestsPerSecond
		run := open(t, w.path("sweep"))
		if off := run.Saturation.Rate.Value()/capacity - 1; math.Abs(off) > 0.1 {
			t.Errorf("saturates at %v of %v req/s", run.Saturation.Rate.Value(), capacity)
		}
		for i := range run.Stages {
			st := &run.Stages[i]
			const varies = 0.7 // at most: the coefficient of variation of the lengths
			if off := st.OutputTokens.Mean.Value()/mean - 1; math.Abs(off) > 4*varies/math.Sqrt(float64(st.OutputTokens.N)) ||
				st.Shortened.Known() {
				t.Errorf("%s: answers of %v tokens, want %v; shortened %v", st.Name, st.OutputTokens.Mean, mean, st.Shortened)
			}
		}
	})
}

// TestReasoningIsToldApart measures a model with thinking and without: the first token of the answer itself has a
// column of its own, and the tokens of the text are not called lost.
func TestReasoningIsToldApart(t *testing.T) {
	each(t, map[string]simserver.Options{"packed": {Think: 40, ChunkTokens: 8},
		"log-normal": {Think: 40, Natural: simserver.NaturalLength{Tokens: 60}},
	}, func(t *testing.T, w *world, options simserver.Options) {
		url, _ := w.server(w.simulated(options))
		measure := func(flag, dir string) (string, *rundir.Stage) {
			block, _ := w.must("run", url, "--api", "chat", flag, "--concurrency", "8", "--requests", "40",
				"--prompt-tokens", "32", "--max-tokens", "160", "--warmup", "1", "--no-selftest", "--plain", "--format",
				"serving", "--out", w.path(dir))
			if strings.Contains(block, "repeats or loses") {
				t.Errorf("%s:\n%s", flag, block)
			}
			return block, open(t, w.path(dir)).Stages[0].OfWholeRun()
		}
		block, st := measure("--think", "think")
		// 40 tokens come before the answer.
		if least := st.TTFT.Mean.Value() + 39*0.9*st.InterToken.Value(); st.FirstAnswer.N != 40 ||
			st.FirstAnswer.Mean.Value() < least {
			t.Errorf("first answer %+v, want %v at least", st.FirstAnswer, least)
		}
		if off := st.OutputTokens.Retokenized.Value() / st.OutputTokens.Total.Value(); math.Abs(off-1) > 0.02 {
			t.Errorf("%v tokens of %v", st.OutputTokens.Retokenized, st.OutputTokens.Total)
		}
		out, _ := w.must("audit", w.path("think"))
		if !strings.Contains(block, "Answers begin with reasoning") || strings.Contains(out, "retokenized") ||
			!strings.Contains(w.report("think", "markdown", "zh"), "首个回答 token") {
			t.Error(block, out)
		}
		block, st = measure("--no-think", "plain")
		if st.FirstAnswer.N != 0 || strings.Contains(block, "reasoning") ||
			strings.Contains(w.report("plain", "console", "en"), "first answer") {
			t.Errorf("%+v\n%s", st.FirstAnswer, block)
		}
	})
}

// TestNumbersOfRequests: a number, a multiple of those in flight, or by default ten for each place and as many as a p90
// needs, which conversations divide by their turns.
func TestNumbersOfRequests(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		config := w.write("c.yaml", "concurrency: 2\nrequests: 7\n")
		for flags, want := range map[string][]int{
			"--concurrency 2,4 --requests 3x": {6, 12}, "--rate 9 --max-concurrency 5 --requests 2x": {10},
			"--config " + config: {7}, "--concurrency 1,12": {66, 120}, "--concurrency 2 --turns 5": {100},
		} {
			out := w.path(strings.NewReplacer(" ", "", "/", "").Replace(flags))
			w.must(brief(append([]string{"run", "sim:", "--out", out}, strings.Fields(flags)...)...)...)
			var got []int
			for _, st := range open(t, out).Stages {
				got = append(got, st.OfWholeRun().Requests.OK)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d requests, want %d", flags, got, want)
			}
		}
	})
}
