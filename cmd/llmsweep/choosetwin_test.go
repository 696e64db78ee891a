package main

import (
	"os"
	"strings"
	"testing"

	"llmsweep/cmd/llmsweep/console"
)

// TestChooseWithTwins measures a twin with one workload and chooses for another: four slots and steps of 10 ms sustain 20 answers of 20 tokens a
// second, so that 50 take four replicas with a fifth kept free.
func TestChooseWithTwins(t *testing.T) {
	if !apart(t) {
		return
	}
	t.Chdir(t.TempDir())
	inBubble(t, "", func(t *testing.T, w *world) {
		defer w.cancel(nil)
		labelled := twinYAML + "labels: {model: m, gpu: L20, gpus: 1, engine: vLLM}\n"
		w.write("twin.yaml", labelled+"check: {error: 0.034, passed: true}\n")
		w.write("failed.yaml", strings.Replace(labelled, "L20", "A100", 1)+"check: {error: 0.5, passed: false}\n")
		w.must("run", "sim:twin.yaml", "--rate", "20", "--requests", "200", "--warmup", "1", "--no-selftest", "--prompt-tokens", "64", "--output-tokens", "11", "--plain",
			"--label", "model=m,gpu=L20,gpus=1,engine=vLLM", "--out", "l20")
		w.must("run", "sim:twin.yaml", "--rate", "20", "--requests", "200", "--warmup", "1", "--no-selftest", "--prompt-tokens", "64", "--output-tokens", "11", "--plain",
			"--label", "model=m,gpu=H20,gpus=1,engine=vLLM", "--out", "h20")
		asked := []string{"l20", "h20", "twin.yaml", "failed.yaml", "--slo", "itl:mean<50ms", "--demand", "50rps"}
		choose := func(args ...string) string {
			out, _ := w.must(append(append([]string{"choose"}, asked...), args...)...)
			return out
		}
		for name, want := range map[string][]string{
			"the wanted is not the measured": {"m, 1 x L20, vLLM ~, 4 replicas", "predicted by the twin twin.yaml", "held-out rows off by 3.4 %", "with another workload", "--unchecked"},
			"with one that failed":           {"FAILED its check by 50 %"},
			"in Chinese":                     {"由孪生模型 twin.yaml 预测", "以另一种负载测得"},
			"the measured":                   {"m, 1 x L20, vLLM, 4 replicas"},
			"too long":                       {"more than twice the longest"},
		} {
			args := map[string][]string{
				"the wanted is not the measured": {"--prompt-tokens", "100", "--output-tokens", "20"},
				"with one that failed":           {"--prompt-tokens", "100", "--output-tokens", "20", "--unchecked"},
				"in Chinese":                     {"--prompt-tokens", "100", "--output-tokens", "20", "--lang", "zh"},
				"too long":                       {"--prompt-tokens", "9000", "--output-tokens", "20"},
			}[name]
			var out string
			if name == "too long" { // so that no twin tells whether it meets the demand
				var code int
				if code, out, _ = w.llmsweep(append(append([]string{"choose"}, asked...), args...)...); code != console.Undecided {
					t.Errorf("%s: exit %d", name, code)
				}
			} else {
				out = choose(args...)
			}
			for _, text := range want {
				if !strings.Contains(out, text) {
					t.Errorf("%s: no %q in\n%s", name, text, out)
				}
			}
			if name == "the measured" && strings.Contains(out, "twin.yaml") {
				t.Errorf("what was measured is predicted:\n%s", out)
			}
		}
		choose("--prompt-tokens", "100", "--output-tokens", "20", "--html", "choice.html")
		if page, err := os.ReadFile("choice.html"); err != nil || !strings.Contains(string(page), "predicted by the twin twin.yaml") || !strings.Contains(string(page), "vLLM ~") {
			t.Errorf("the page has no prediction: %v", err)
		}
		if out := choose("--prompt-tokens", "100", "--output-tokens", "20", "--format", "json"); !strings.Contains(out, `"check_error": 0.034`) || !strings.Contains(out, `"replicas_interval"`) {
			t.Error(out)
		}
		code, out, errs := w.llmsweep("plan", "failed.yaml", "--slo", "ttft:p99<9s", "--rate", "1", "--duration", "1m")
		if code != console.Missed || !strings.Contains(out, "it failed its held-out check") || !strings.Contains(errs, "no twin gives a plan") {
			t.Errorf("plan of a failed twin: exit %d\n%s%s", code, out, errs)
		}
		for _, wrong := range [][]string{{"twin.yaml"}, {"twin.yaml", "--prompt-tokens", "100"}, {"none.yaml"}, {"l20", "--trace", "none.jsonl"}} {
			if code, _, errs := w.llmsweep(append([]string{"choose", "--slo", "itl:mean<50ms", "--demand", "50rps"}, wrong...)...); code != console.WrongUsage {
				t.Errorf("%q: exit %d\n%s", wrong, code, errs)
			}
		}
	})
}
