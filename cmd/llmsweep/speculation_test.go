package main

import (
	"math"
	"strings"
	"testing"

	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/sweep/workload"
)

// TestSpeculation measures servers that draft four tokens in each step: what they accept is what their model says, an
// answer gains as many tokens a step, and the report says that random words and forced lengths do not show what real
// texts do.
func TestSpeculation(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		config, err := sim.Preset("plain8")
		if err != nil {
			t.Fatal(err)
		}
		config.Speculation = sim.Speculation{Draft: 4, Accept: 0.7}
		rate := config.Speculation.Acceptance()
		if math.Abs(rate-(0.7+0.49+0.343+0.2401)/4) > 1e-12 {
			t.Fatalf("expected acceptance %v", rate)
		}
		file := w.write("texts.jsonl", strings.Repeat(`{"prompt":"Tell me about the sea and the ships on it.","output_tokens":100}`+"\n", 20))
		for engine, args := range map[string][]string{"vllm": nil, "sglang": {"--dataset", file, "--output-tokens", "128"}} {
			url, _ := w.server(w.simulation(config, simserver.Options{Engine: engine}))
			out, _ := w.must(append([]string{"run", url, "--concurrency", "8", "--requests", "400", "--warmup", "1",
				"--no-selftest", "--plain", "--out", w.path(engine)}, args...)...)
			st := open(t, w.path(engine)).Stages[0]
			got := st.Server
			if got == nil || math.Abs(got.AcceptRate.Value()-rate) > 0.02 || math.Abs(got.AcceptLength.Value()-1-4*rate) > 0.08 {
				t.Fatalf("%s: %+v, want an acceptance of %.3f", engine, got, rate)
			}
			if per := st.TokensPerChunk.Value(); math.Abs(per-got.AcceptLength.Value()) > 0.15 {
				t.Errorf("%s: %.2f tokens a chunk, %.2f a step", engine, per, got.AcceptLength.Value())
			}
			if want := 0.010 / (1 + 4*rate); math.Abs(st.InterToken.Value()-want) > 0.05*want {
				t.Errorf("%s: ITL %v, want %v", engine, st.InterToken, want)
			}
			warned := map[string]string{"vllm": "these prompts are random words",
				"sglang": "answers were forced to a length"}[engine]
			if text := strings.Join(strings.Fields(out), " "); !strings.Contains(text, warned) ||
				!strings.Contains(w.report(engine, "console", "en"), "per step") || !strings.Contains(text, "--max-tokens N") {
				t.Errorf("%s: %s", engine, out)
			}
		}
		url, _ := w.server(w.simulated(simserver.Options{}))
		w.must("run", url, "--concurrency", "2", "--requests", "20", "--no-selftest", "--plain", "--out", w.path("none"))
		if out := w.report("none", "console", "en"); strings.Contains(out, "per step") {
			t.Errorf("a server without speculation: %s", out)
		}
	})
}

// TestSpeculationTakesTexts: a sweep without a workload sends the built-in texts where the server decodes
// speculatively, and says so; lengths given by hand keep random words and their warning, and so does a server without
// speculation.
func TestSpeculationTakesTexts(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		config, err := sim.Preset("plain8")
		if err != nil {
			t.Fatal(err)
		}
		plain := config
		config.Speculation = sim.Speculation{Draft: 4, Accept: 0.7}
		for name, c := range map[string]struct {
			config sim.MachineConfig
			engine string
			args   []string
			texts  bool
			warned bool
		}{
			"texts": {config, "sglang", nil, true, false},
			"given": {config, "vllm", []string{"--prompt-tokens", "64"}, false, true},
			"none":  {plain, "sglang", nil, false, false},
		} {
			url, _ := w.server(w.simulation(c.config, simserver.Options{Engine: c.engine}))
			out, _ := w.must(append([]string{"sweep", url, "--budget", "30s", "--stage-time", "5s", "--points", "1",
				"--no-selftest", "--plain", "--out", w.path(name)}, c.args...)...)
			run, text := open(t, w.path(name)), strings.Join(strings.Fields(w.report(name, "console", "en")), " ")
			if got := run.Workload.Dataset == workload.BuiltIn; got != c.texts ||
				got != strings.Contains(text, "built-in texts are sent in place of random words") || c.texts &&
				run.Workload.Forced {
				t.Errorf("%s: %+v\n%s", name, run.Workload, out)
			}
			if strings.Contains(text, "these prompts are random words") != c.warned ||
				strings.Contains(text, "forced to a length") {
				t.Errorf("%s: %s", name, out)
			}
		}
	})
}
