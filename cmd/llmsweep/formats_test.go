package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/sweep/rundir"
)

// One raw run, printed in the three published formats and read back, must agree with itself.
func TestTheThreeFormatsAgree(t *testing.T) {
	t.Chdir(t.TempDir())
	code, block, errs := llmsweep("run", "sim:", "--concurrency", "4", "--requests", "24", "--prompt-tokens", "64",
		"--output-tokens", "12", "--warmup", "1", "--no-selftest", "--plain", "--format", "serving", "--out", "run")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if !strings.Contains(block, "Total generated tokens (retokenized):    288\n") { // the simulator has a tokenizer to ask
		t.Errorf("no retokenized total:\n%s", block)
	}
	measured, err := rundir.Open("run")
	if err != nil {
		t.Fatal(err)
	}
	want := &measured.Stages[0]
	for _, format := range []string{"stress", "serving", "markdown"} {
		code, text, errs := llmsweep("report", "run", "--format", format)
		if code != exitDone {
			t.Fatalf("%s: exit %d: %s", format, code, errs)
		}
		if err := os.WriteFile(format+".txt", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := llmsweep("import", format+".txt", "--out", format); code != exitDone {
			t.Fatalf("%s: exit %d: %s", format, code, errs)
		}
		dirs, err := filepath.Glob(format + "/*/" + rundir.RunFile)
		if err != nil || len(dirs) != 1 {
			t.Fatalf("%s: run directories %v, %v", format, dirs, err)
		}
		run, err := rundir.Open(filepath.Dir(dirs[0]))
		if err != nil {
			t.Fatal(err)
		}
		got := &run.Stages[0]
		for name, f := range map[string][2]rundir.Number{
			"requests per second": {got.Rates.Completed, want.Rates.Completed},
			"tokens per second":   {got.TokensPerS.Output, want.TokensPerS.Output},
			"latency":             {got.Latency.Mean, want.Latency.Mean},
			"median latency":      {got.Latency.P50, want.Latency.P50},
			"TTFT":                {got.TTFT.Mean, want.TTFT.Mean},
		} {
			if f[0].IsZero() { // not in this format
				continue
			}
			if off := math.Abs(f[0].Value() - f[1].Value()); off > 0.006+0.01*f[1].Value() { // printed to two decimals
				t.Errorf("%s: %s is %v, and was measured as %v", format, name, f[0].Value(), f[1].Value())
			}
		}
		if got.Rates.Completed.IsZero() || got.Latency.Mean.IsZero() {
			t.Errorf("%s: nothing was read back", format)
		}
	}
}
