package main

import (
	"strings"
	"testing"

	"llmsweep/sweep/rundir"
)

// A gate passes what keeps its promise, and neither what breaks it nor what is not known.
func TestRunIsAGate(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		name string
		slo  []string
		code int
		out  string
		errs string
	}{
		{"kept", []string{"latency:mean<1m", "ttft_due:mean<1m", "errors<50%"}, exitDone, "concurrent@4 meets latency:mean<60s", ""},
		{"broken", []string{"latency:mean<1ms", "ttft:p99<1m"}, exitFailed, "concurrent@4 misses latency:mean<1ms", "the SLO is missed: latency:mean<1ms is broken in concurrent@4"},
		{"unknown", []string{"ttft:p99<1m"}, exitFailed, "Whether concurrent@4 meets", "ttft:p99<60s is not supported by the 40 requests of concurrent@4, and needs"},
		{"wrong", []string{"ttft:p99>1m"}, exitUsage, "", "has no <"},
	} {
		args := []string{"run", "sim:", "--concurrency", "4", "--requests", "40", "--prompt-tokens", "64", "--output-tokens", "8", "--warmup", "1", "--plain", "--out", c.name}
		for _, term := range c.slo {
			args = append(args, "--slo", term)
		}
		code, out, errs := llmsweep(args...)
		if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) {
			t.Errorf("%s: exit %d\n%s\n%s", c.name, code, out, errs)
		}
	}
}

func TestSweepForAnSLO(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, errs := llmsweep(append([]string{"sweep", "sim:", "--slo", "latency:mean<1m", "--out", "kept"}, hurried...)...)
	if code != exitDone || !strings.Contains(out, "Meets latency:mean<60s up to") && !strings.Contains(out, "Meets latency:mean<60s at all rates") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	code, out, errs = llmsweep(append([]string{"sweep", "sim:", "--slo", "latency:mean<1ms", "--out", "broken"}, hurried...)...)
	if code != exitFailed || !strings.Contains(out, "broken as early as synchronous") || !strings.Contains(errs, "no rate was shown to meet the SLO") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	run, err := rundir.Open("broken")
	if err != nil {
		t.Fatal(err)
	}
	if s := run.SLO; s == nil || !s.Rate.IsZero() || s.Limiting != "latency:mean<1ms" || run.Plan.SLO[0] != s.Limiting || run.Stages[0].Goodput.Rate.Value() != 0 {
		t.Errorf("run.json: %+v of %v", run.SLO, run.Plan.SLO)
	}
	// What was measured is judged anew, by other terms, and never by its exit code.
	code, out, errs = llmsweep("report", "broken", "--slo", "latency:mean<1m", "--slo", "tpot:mean<1m")
	if code != exitDone || !strings.Contains(out, "Meets latency:mean<60s, tpot:mean<60s") || !strings.Contains(out, "kept") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	if code, _, errs = llmsweep("report", "broken", "--slo", "latency<1m"); code != exitUsage || !strings.Contains(errs, "ttft:p99<500ms") {
		t.Errorf("exit %d\n%s", code, errs)
	}
}
