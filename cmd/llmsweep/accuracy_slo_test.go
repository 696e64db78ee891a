package main

import (
	"strings"
	"testing"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
)

// Accuracy is an objective of run, report and choose, with their exit codes, and a limit of compare.
func TestAccuracyAsACondition(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		set := w.sums(120)
		measured := func(name, habit, requests, term string) (int, string, string) {
			url, stop := w.server(w.differing(simserver.Options{}, habit))
			defer stop()
			return w.llmsweep("run", url, "--concurrency", "4", "--requests", requests, "--dataset", set, "--graded", "120", "--warmup", "1", "--no-selftest",
				"--label", "gpu=L20,gpus=1", "--slo", term, "--out", w.path(name))
		}
		for name, c := range map[string]struct {
			habit, requests string
			code            int
			says            string
		}{
			"good":    {"errs:1%", "120", 0, ""},
			"bad":     {"errs:50%", "120", console.Missed, "the SLO is missed: accuracy>80% is missed in concurrent@4"},
			"too few": {"errs:1%", "10", console.Undecided, "the requests of concurrent@4 do not show whether accuracy>80% is met"},
		} {
			code, out, errs := measured(name, c.habit, c.requests, "accuracy>80%")
			if code != c.code || !strings.Contains(errs, c.says) {
				t.Errorf("%s: exit %d, no %q:\n%s\n%s", name, code, c.says, out, errs)
			}
			if zh, _ := w.must("report", w.path(name), "--lang", "zh"); !strings.Contains(zh, "accuracy") && code != 0 {
				t.Errorf("%s: %s", name, zh)
			}
		}
		if code, _, errs := w.llmsweep("run", "http://localhost:1", "--concurrency", "1", "--slo", "accuracy>80%"); code != console.WrongUsage || !strings.Contains(errs, "whose rows have an answer") {
			t.Errorf("no dataset: exit %d: %s", code, errs)
		}
		for limit, want := range map[string]int{"accuracy<80%": console.Missed, "accuracy<20%": 0, "accuracy_change<-5%": console.Missed, "accuracy<50%": console.Undecided} {
			if code, _, errs := w.llmsweep("compare", w.path("good"), w.path("bad"), "--fail-if", limit); code != want {
				t.Errorf("--fail-if %s: exit %d, want %d: %s", limit, code, want, errs)
			}
		}
	})
}

// compare --live grades the answers of both servers.
func TestLiveAnswers(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		a, _ := w.server(w.differing(simserver.Options{}))
		b, _ := w.server(w.differing(simserver.Options{}, "errs:50%"))
		code, out, errs := w.llmsweep("compare", "--live", a, b, "--concurrency", "2", "--stage-time", "2s", "--budget", "60s", "--warmup", "1", "--no-selftest",
			"--dataset", w.sums(60), "--graded", "60", "--out", w.path("pair"), "--fail-if", "accuracy_change<-10%")
		if !strings.Contains(out, "B is less accurate than A") {
			t.Error(out)
		}
		if code != console.Missed || !strings.Contains(errs, "accuracy_change of B is") {
			t.Errorf("exit %d: %s", code, errs)
		}
	})
}
