package main

import (
	"strings"
	"testing"

	"llmsweep/cmd/llmsweep/console"
)

// TestOldRunsOpen reads a run of version 0.1 with keys of features that left (fidelity, perplexity, items, adaptive)
// and an API that left: all commands that read runs open it and say nothing of these.
func TestOldRunsOpen(t *testing.T) {
	const old, new = "testdata/old", "../../examples/real/vllm-cpu"
	for _, args := range [][]string{
		{"report", old},
		{"report", old, "--format", "markdown"},
		{"report", old, "--format", "markdown", "--lang", "zh"},
		{"report", old, "--format", "csv"},
		{"report", old, "--format", "html"},
		{"compare", old, new, "--any-workload"},
		{"choose", old, "--slo", "itl:mean<5s", "--demand", "1rps"},
	} {
		var out, errs strings.Builder
		code := execute(args, console.NewConsole(t.Context(), &out, &errs))
		if code != console.Done || errs.Len() > 0 || out.Len() == 0 {
			t.Errorf("%s: exit %d, %s", strings.Join(args, " "), code, errs.String())
		}
		text := strings.ToLower(out.String())
		for _, gone := range []string{"canar", "perplex", "fidelity", "another version"} {
			if strings.Contains(text, gone) {
				t.Errorf("%s speaks of %q", strings.Join(args, " "), gone)
			}
		}
		if args[0] == "report" && args[len(args)-1] == "markdown" && !strings.Contains(text, "ollama") {
			t.Errorf("%s does not name the API", strings.Join(args, " "))
		}
	}
}
