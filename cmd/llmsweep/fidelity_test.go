package main

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// differing returns the handler of a simulated server with habits.
func (w *world) differing(o simserver.Options, habits ...string) http.Handler {
	w.t.Helper()
	config, err := sim.Preset("demo")
	if err != nil {
		w.t.Fatal(err)
	}
	if config.Habits, err = sim.ParseHabits(habits); err != nil {
		w.t.Fatal(err)
	}
	live, err := sim.Start(config)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(live.Close)
	return simserver.New(live, o)
}

// shortCanaries writes n canaries with short answers, and returns the path.
func shortCanaries(w *world, n int) string {
	var set strings.Builder
	for i := range n {
		fmt.Fprintf(&set, "{\"prompt\":\"canary number %d\",\"tokens\":24}\n", i)
	}
	return w.write("canaries.jsonl", set.String())
}

// TestAnswersUnderLoad runs a load on servers that differ on purpose, or tell less than others.
func TestAnswersUnderLoad(t *testing.T) {
	for name, c := range map[string]struct {
		options simserver.Options
		habits  []string
		verdict rundir.FidelityVerdict
		says    string
	}{
		"alike":           {verdict: rundir.FidelitySame, says: "Answers under load are as alone"},
		"ties":            {habits: []string{"ties:40%"}, verdict: rundir.FidelityTies, says: "except for ties"},
		"a wrong cache":   {habits: []string{"confuses:40%"}, verdict: rundir.FidelityDiffers, says: "Answers differ under load"},
		"quantized":       {habits: []string{"rounds:40%"}, verdict: rundir.FidelitySame, says: "Answers under load are as alone"},
		"no seed":         {habits: []string{"samples:50%"}, verdict: rundir.FidelityUndecided, says: "does not always give the same answer"},
		"nothing told":    {options: simserver.Options{NoLogProbs: true}, verdict: rundir.FidelitySame, says: "sends no log-probabilities"},
		"nothing allowed": {options: simserver.Options{NoLogProbs: true, Strict: true}, habits: []string{"confuses:40%"}, verdict: rundir.FidelityDiffers, says: "refuses to send log-probabilities"},
		"it thinks":       {options: simserver.Options{Think: 8}, verdict: rundir.FidelitySame, says: "began with reasoning"},
		"own API":         {options: simserver.Options{Engine: "sglang"}, habits: []string{"ties:40%"}, verdict: rundir.FidelityTies, says: "except for ties"},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				url, _ := w.server(w.differing(c.options, c.habits...))
				dir := w.path("run")
				out, _ := w.must("run", url, "--concurrency", "8", "--requests", "1300", "--prompt-tokens", "8", "--output-tokens", "2", "--no-selftest",
					"--fidelity", "--canaries", shortCanaries(w, 70), "--out", dir)
				run, err := store.Open(dir)
				if err != nil {
					t.Fatal(err)
				}
				f := run.Fidelity
				if f.Verdict != c.verdict || !strings.Contains(out, c.says) {
					t.Errorf("%s, want %s and %q:\n%s", f.Verdict, c.verdict, c.says, out)
				}
				if c.habits == nil && (f.Load.Same.Mean.Value() != 1 || f.Alone.Answers != 70) {
					t.Errorf("%+v", f)
				}
				if zh, _ := w.must("report", dir, "--lang", "zh"); !strings.Contains(zh, "回答") {
					t.Errorf("no answers in Chinese:\n%s", zh)
				}
			})
		})
	}
}

// TestCanariesChangeNoMetric measures a load with and without canaries.
func TestCanariesChangeNoMetric(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		measured := func(dir string, more ...string) *rundir.Stage {
			url, _ := w.server(w.differing(simserver.Options{}))
			w.must(append([]string{"run", url, "--rate", "80", "--duration", "15s", "--prompt-tokens", "64", "--output-tokens", "4", "--no-selftest", "--out", w.path(dir)}, more...)...)
			run, err := store.Open(w.path(dir))
			if err != nil {
				t.Fatal(err)
			}
			return &run.Stages[0]
		}
		with, without := measured("with", "--fidelity", "--canaries", "20", "--canary-share", "2%"), measured("without")
		a, b := with.TTFT.CI["mean"], without.TTFT.CI["mean"]
		if with.Fidelity == nil || without.Fidelity != nil || a[0] > b[1] || b[0] > a[1] {
			t.Errorf("TTFT is %v with canaries and %v without", a, b)
		}
		if got, want := with.Rates.Completed.Value(), without.Rates.Completed.Value(); math.Abs(got/want-1) > 0.1 {
			t.Errorf("%g req/s with canaries, %g without", got, want)
		}
	})
}

// TestDryRunCountsCanaries plans the two passes alone.
func TestDryRunCountsCanaries(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		out, _ := w.must("run", "http://localhost:1", "--concurrency", "1", "--requests", "40", "--fidelity", "--canaries", "30", "--dry-run")
		if !strings.Contains(out, "60 requests ask the canaries alone") {
			t.Error(out)
		}
		if out, _ := w.must("run", "http://localhost:1", "--concurrency", "1", "--requests", "40", "--fidelity", "--slo", "fidelity>99%", "--dry-run"); !strings.Contains(out, "at least 299 canaries") {
			t.Error(out)
		}
		for _, wrong := range [][]string{{"--canaries", "5"}, {"--fidelity", "--canaries", "0"}, {"--fidelity", "--canary-share", "9%"}, {"--fidelity", "--canaries", "nowhere.txt"}} {
			if code, _, errs := w.llmsweep(append([]string{"run", "http://localhost:1", "--rate", "1", "--requests", "4"}, wrong...)...); code != console.WrongUsage {
				t.Errorf("%v: exit %d, %s", wrong, code, errs)
			}
		}
	})
}

// TestCompareAnswers compares runs with the same canaries, and with others.
func TestCompareAnswers(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		last := ""
		measured := func(dir, canaries string, habits ...string) {
			url, _ := w.server(w.differing(simserver.Options{}, habits...))
			w.must("run", url, "--concurrency", "4", "--requests", "60", "--prompt-tokens", "8", "--output-tokens", "2", "--no-selftest", "--out", w.path(dir),
				"--label", "gpu=L20,gpus=1,quant="+dir, "--fidelity", "--canaries", canaries)
			last = url
		}
		set := shortCanaries(w, 40)
		measured("f16", set)
		measured("again", set)
		measured("q4", set, "rounds:60%,0.2")
		measured("others", "20")
		url, _ := w.server(w.differing(simserver.Options{}))
		w.must("run", url, "--concurrency", "1", "--requests", "4", "--no-selftest", "--out", w.path("without"))

		out, _ := w.must("compare", "--fidelity", w.path("f16"), w.path("again"), w.path("q4"))
		out = strings.Join(strings.Fields(out), " ") // sentences are wrapped
		for _, want := range []string{"again, 1 x L20, vLLM are as those of", "40 of 40 are equal", "KL", "equal under load"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		for gate, want := range map[string]int{"match<90%": console.Missed, "match<1%": console.Done, "match<40%": console.Undecided, "kl>0.5": console.Done, "kl>0.0001": console.Missed} {
			if code, _, errs := w.llmsweep("compare", "--fidelity", w.path("f16"), w.path("q4"), "--fail-if", gate); code != want {
				t.Errorf("%s: exit %d, want %d: %s", gate, code, want, errs)
			}
		}
		for gate, want := range map[string]int{"fidelity>50%": console.Done, "fidelity>99.9%": console.Undecided} {
			if code, _, errs := w.llmsweep("run", last, "--concurrency", "4", "--requests", "200", "--prompt-tokens", "8", "--output-tokens", "2", "--no-selftest", "--out", w.path("gate"), "--force",
				"--fidelity", "--canaries", set, "--slo", gate); code != want {
				t.Errorf("%s: exit %d, want %d: %s", gate, code, want, errs)
			}
		}
		for limit, want := range map[string]string{"match>99%": "its answers miss match>99%", "match>39%": "do not decide", "kl<5": "Cheapest"} {
			exit := console.Done
			if limit == "match>99%" { // 40 canaries do not decide it for the best server
				exit = console.Undecided
			}
			code, out, errs := w.llmsweep("choose", w.path("f16"), w.path("again"), w.path("q4"), "--slo", "itl:mean<1s", "--demand", "1rps", "--price", "L20=1", "--baseline", w.path("f16"), "--fidelity", limit)
			if code != exit {
				t.Errorf("%s: exit %d, want %d: %s", limit, code, exit, errs)
			}
			if !strings.Contains(out, want) || !strings.Contains(out, "cost, speed and drift") || !strings.Contains(out, "on the front") {
				t.Errorf("%s: no %q in\n%s", limit, want, out)
			}
		}
		if zh, _ := w.must("compare", "--fidelity", w.path("f16"), w.path("q4"), "--lang", "zh"); !strings.Contains(zh, "负载下相同") {
			t.Errorf("no answers in Chinese:\n%s", zh)
		}
		for dir, want := range map[string]string{"others": "asked other canaries", "without": "has no canaries"} {
			if code, _, errs := w.llmsweep("compare", "--fidelity", "--any-workload", w.path("f16"), w.path(dir)); code != console.WrongUsage || !strings.Contains(errs, want) {
				t.Errorf("%s: exit %d, %s", dir, code, errs)
			}
		}
	})
}

// TestCompareAnswersLive asks two servers the canaries, and compares the result again from its directory.
func TestCompareAnswersLive(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		a, _ := w.server(w.differing(simserver.Options{}))
		b, _ := w.server(w.differing(simserver.Options{}, "rounds:60%,0.2"))
		out := w.path("pair")
		live := []string{"compare", "--live", "--fidelity", a, b, "--canaries", shortCanaries(w, 30), "--concurrency", "2", "--stage-time", "1s", "--budget", "30s", "--warmup", "1",
			"--prompt-tokens", "8", "--output-tokens", "2", "--no-selftest", "--plain", "--out", out, "--fail-if", "match<95%"}
		code, first, errs := w.llmsweep(live...)
		if code != console.Missed || !strings.Contains(first, "The answers of B ") || !strings.Contains(first, "KL") {
			t.Fatalf("exit %d, %s\n%s", code, errs, first)
		}
		if again, _ := w.must("compare", out, "--fail-if", "match<1%"); !strings.Contains(again, "The answers of B ") {
			t.Errorf("read again:\n%s", again)
		}
		if page, err := os.ReadFile(filepath.Join(out, "report.html")); err != nil || !strings.Contains(string(page), "answers-by-candidate") {
			t.Error("no drawing of answers", err)
		}
		for _, side := range rundir.Sides() {
			run := open(t, filepath.Join(out, side))
			if run.Fidelity.Alone.Answers != 30 || run.Fidelity.Load.Answers != 0 {
				t.Errorf("%s: %+v", side, run.Fidelity)
			}
		}
	})
}
