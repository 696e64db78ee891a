package main

import (
	"strings"
	"testing"

	"llmsweep/cmd/llmsweep/console"
)

// twinYAML is a twin as a person would write it: steps of 10 ms, four requests at once.
const twinYAML = `twin: 1
step:
  read: {fixed_ms: 10, context_us: 0, token_us: 0}
  compute: {fixed_ms: 0, token_us: 0, sample_us: 0, pair_ns: 0}
slots: 4
step_tokens: 2048
latency_ms: 0
jitter: 0
seen: {prompt_tokens: [8, 800], output_tokens: [8, 80], batch: 4, step_tokens: 100, kv_tokens: 1000, steps: 1000}
`

// TestATwinIsAServer measures a twin: 4 requests of 11 tokens take 110 ms. One that failed its check says so, and one with a wrong key is refused.
func TestATwinIsAServer(t *testing.T) {
	if !apart(t) {
		return
	}
	t.Chdir(t.TempDir())
	inBubble(t, "", func(t *testing.T, w *world) {
		defer w.cancel(nil)
		w.write("twin.yaml", twinYAML)
		w.write("failed.yaml", twinYAML+"check: {error: 0.5, passed: false}\n")
		w.write("wrong.yaml", twinYAML+"speed: 2\n")
		flags := []string{"--concurrency", "4", "--requests", "80", "--warmup", "1", "--no-selftest", "--prompt-tokens", "64", "--output-tokens", "11", "--plain"}
		code, out, errs := w.llmsweep(append([]string{"run", "sim:twin.yaml", "--out", "a"}, flags...)...)
		if code != console.Done || !strings.Contains(out, "10.0 ms") || strings.Contains(errs, "held-out") {
			t.Errorf("exit %d, want gaps of 10.0 ms\n%s%s", code, out, errs)
		}
		if code, _, errs = w.llmsweep(append([]string{"run", "sim:failed.yaml", "--out", "b"}, flags...)...); code != console.WrongUsage || !strings.Contains(errs, "--unchecked") {
			t.Errorf("exit %d\n%s", code, errs)
		}
		if code, _, errs = w.llmsweep(append([]string{"run", "sim:failed.yaml", "--unchecked", "--out", "b"}, flags...)...); code != console.Done || !strings.Contains(errs, "failed.yaml failed its held-out check") {
			t.Errorf("exit %d\n%s", code, errs)
		}
		if code, _, errs = w.llmsweep(append([]string{"run", "sim:wrong.yaml", "--out", "c"}, flags...)...); code != console.WrongUsage || !strings.Contains(errs, "wrong.yaml") || !strings.Contains(errs, "speed") {
			t.Errorf("exit %d\n%s", code, errs)
		}
	})
}
