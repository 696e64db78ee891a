package main

import (
	"math"
	"strings"
	"testing"

	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/workload"
)

// TestSpeculation measures servers that draft four tokens in each step: what they accept is what their model says, an
// answer gains as many tokens a step, and the report says that random words and forced lengths do not show what real
// texts do. A server without speculation gets no such words.
func TestSpeculation(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		plain := simtest.Preset(t, "plain8")
		config := plain
		config.Speculation = sim.Speculation{Draft: 4, Accept: 0.7}
		rate := config.Speculation.Acceptance()
		if math.Abs(rate-(0.7+0.49+0.343+0.2401)/4) > 1e-12 {
			t.Fatalf("expected acceptance %v", rate)
		}
		file := w.write("texts.jsonl", strings.Repeat(`{"prompt":"Tell me about the sea.","output_tokens":100}`+"\n", 20))
		run := func(name, engine string, c sim.MachineConfig, more ...string) (text string) {
			url, _ := w.server(w.simulation(c, simserver.Options{Engine: engine}))
			w.must(append([]string{"run", url, "--concurrency", "8", "--requests", "200", "--warmup", "1", "--no-selftest",
				"--plain", "--out", w.path(name)}, more...)...)
			return w.flat(name)
		}
		for engine, c := range map[string]struct {
			args []string
			says string
		}{"vllm": {nil, "these prompts are random words"},
			"sglang": {[]string{"--dataset", file, "--output-tokens", "128"}, "answers were forced to a length"}} {
			if text := run(engine, engine, config, c.args...); !containsAll(text, c.says, "per step", "--max-tokens N") {
				t.Errorf("%s: %s", engine, text)
			}
			st := open(t, w.path(engine)).Stages[0]
			got := st.Server
			if got == nil || math.Abs(got.AcceptRate.Value()-rate) > 0.03 || math.Abs(got.AcceptLength.Value()-1-4*rate) > 0.12 {
				t.Fatalf("%s: %+v, want an acceptance of %.3f", engine, got, rate)
			}
			if per := st.TokensPerChunk.Value(); math.Abs(per-got.AcceptLength.Value()) > 0.15 {
				t.Errorf("%s: %.2f tokens a chunk, %.2f a step", engine, per, got.AcceptLength.Value())
			}
			if want := 0.010 / (1 + 4*rate); math.Abs(st.InterToken.Value()-want) > 0.05*want {
				t.Errorf("%s: ITL %v, want %v", engine, st.InterToken, want)
			}
		}
		if text := run("none", "vllm", plain, "--requests", "20"); strings.Contains(text, "per step") {
			t.Errorf("a server without speculation: %s", text)
		}
	})
}

// flat returns the report of a run directory on one line.
func (w *world) flat(dir string) string {
	return strings.Join(strings.Fields(w.report(dir, "console", "en")), " ")
}

// TestSpeculationTakesTexts: a sweep without a workload sends the built-in texts where the server decodes
// speculatively, and says so; lengths given by hand keep random words and their warning, and so does a server without
// speculation.
func TestSpeculationTakesTexts(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		plain := simtest.Preset(t, "plain8")
		drafting := plain
		drafting.Speculation = sim.Speculation{Draft: 4, Accept: 0.7}
		for name, c := range map[string]struct {
			config        sim.MachineConfig
			args          []string
			texts, warned bool
		}{
			"texts": {drafting, nil, true, false}, "given": {drafting, []string{"--prompt-tokens", "64"}, false, true},
			"none": {plain, nil, false, false},
		} {
			url, _ := w.server(w.simulation(c.config, simserver.Options{Engine: "sglang"}))
			w.must(append([]string{"sweep", url, "--budget", "20s", "--stage-time", "3s", "--points", "1", "--no-selftest",
				"--plain", "--out", w.path(name)}, c.args...)...)
			run, text := open(t, w.path(name)), w.flat(name)
			if got := run.Workload.Dataset == workload.BuiltIn; got != c.texts || c.texts && run.Workload.Forced ||
				got != strings.Contains(text, "built-in texts are sent in place of random words") ||
				strings.Contains(text, "these prompts are random words") != c.warned ||
				strings.Contains(text, "forced to a length") {
				t.Errorf("%s: %+v\n%s", name, run.Workload, text)
			}
		}
	})
}
