package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"llmsweep/cmd/llmsweep/console"
)

// TestReportAndChooseAgree judges sweeps by many objectives, once by report and once by choose: both say that there is
// no rate, or name the same one, or its low end where it is not located.
func TestReportAndChooseAgree(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		w.must(quick("sweep", w.slow(), "--label", "gpu=L20,gpus=1", "--out", w.path("swept"))...)
		met := 0
		for _, stat := range []string{"p50", "p99"} {
			for ms := 50.0; ms < 2500; ms *= 6 { // from one that no rate meets to one that most do
				if agree(t, w, w.path("swept"), fmt.Sprintf("ttft:%s<%.3fms", stat, ms), "errors<50%") {
					met++
				}
			}
		}
		if met == 0 {
			t.Error("no objective was met: nothing was compared")
		}
	})
}

// agree compares what report and choose say of a directory, and reports whether the terms are met.
func agree(t *testing.T, w *world, dir string, terms ...string) (met bool) {
	t.Helper()
	var flags []string
	for _, term := range terms {
		flags = append(flags, "--slo", term)
	}
	out, _ := w.must(append([]string{"report", dir, "--format", "json"}, flags...)...)
	var run struct {
		SLO struct {
			Rate, Low json.RawMessage
			Verdict   string
		}
	}
	noError(t, json.Unmarshal([]byte(out), &run))
	code, out, errs := w.llmsweep(append([]string{"choose", dir, "--demand", "1rps", "--price", "L20=1", "--format",
		"json"}, flags...)...)
	var choices []struct {
		Ranked  []struct{ Rate float64 }
		Refused []struct{ Why string }
	}
	noError(t, json.Unmarshal([]byte(out), &choices))
	want := 0
	switch {
	case len(choices[0].Ranked) > 0:
	case run.SLO.Verdict == "broken":
		want = console.Missed
	default: // the report says that it is not decided
		want = console.Undecided
	}
	if code != want {
		t.Errorf("%v: choose exits with %d, want %d: %s", terms, code, want, errs)
	}
	rate := strings.Trim(string(run.SLO.Rate), `{"over:}`)
	// it is not located: choose counts on its low end
	if rate == "" && run.SLO.Verdict == "kept" && string(run.SLO.Low) != "0" {
		rate = string(run.SLO.Low)
	}
	switch c := choices[0]; {
	case rate == "" && len(c.Ranked) > 0:
		t.Errorf("%v: report names no rate, choose %v", terms, c.Ranked[0].Rate)
	case rate != "" && len(c.Ranked) == 0:
		t.Errorf("%v: report says %s req/s, choose that it is not met: %v", terms, rate, c.Refused)
	case rate != "":
		var v float64
		if _, err := fmt.Sscan(rate, &v); err != nil || math.Abs(v-c.Ranked[0].Rate) > 1e-9 {
			t.Errorf("%v: report says %s req/s, choose %v", terms, rate, c.Ranked[0].Rate)
		}
	case run.SLO.Verdict == "broken" && strings.Contains(c.Refused[0].Why, "decide"), run.SLO.Verdict == "unsure" &&
		strings.Contains(c.Refused[0].Why, "misses"):
		t.Errorf("%v: report says %s, choose %q", terms, run.SLO.Verdict, c.Refused[0].Why)
	}
	return rate != ""
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
