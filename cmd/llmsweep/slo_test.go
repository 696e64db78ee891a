package main

import (
	"strings"
	"testing"

	"llmsweep/cmd/llmsweep/console"
)

// TestExitsOfChoose: an objective is met, missed, or not decided.
func TestExitsOfChoose(t *testing.T) {
	for slo, want := range map[string]int{"ttft:p50<1s": console.Done, "ttft:p50<1ms": console.Missed,
		"ttft:p99<170ms": console.Undecided} {
		if code, text := command(t, "choose", firstReport, "--demand", "1rps", "--price", "L20=1", "--slo", slo); code != want {
			t.Errorf("%s: exit %d: %s", slo, code, text)
		}
	}
}

// TestRulesOfMLPerf prints MLPerf's verdict beside that of llmsweep: 300 requests below the limit pass a p90, and are
// too few for a p99.
func TestRulesOfMLPerf(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		dir := w.path("run")
		w.must(brief("run", w.slow(), "--rate", "10", "--requests", "300", "--out", dir)...)
		rules := []string{"report", dir, "--slo", "latency:p90<9s", "--slo", "latency:p99<9s", "--slo", "ttft:mean<9s",
			"--rules", "mlperf"}
		for _, format := range []string{"console", "markdown"} {
			out, _ := w.must(append(rules, "--format", format)...)
			_, table, _ := strings.Cut(out, "MLPerf's early stopping")
			table = strings.Join(strings.Fields(strings.NewReplacer("|", " ", "&lt;", "<").Replace(table)), " ")
			for _, want := range []string{"latency:p90<9s 300 0 18 44 passes", "latency:p99<9s 300 0 n/a 459 does not pass"} {
				if !strings.Contains(table, want) {
					t.Errorf("%s: no %q in %s", format, want, table)
				}
			}
			if strings.Contains(table, "mean") {
				t.Errorf("%s: a mean is judged: %s", format, table)
			}
		}
		w.exits(console.WrongUsage, "is printed with --format console", append(rules, "--format", "json")...)
	})
}
