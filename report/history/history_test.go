package history

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// nights returns a run a night of one configuration, with one load. Factor multiplies the ITL of a night.
func nights(n int, spread float64, factor func(night int) float64) []setup.Input {
	rng := rand.New(rand.NewPCG(7, 7))
	var all []setup.Input
	for i := range n {
		itl := 0.020 * (1 + spread*rng.NormFloat64()) * factor(i)
		st := rundir.Stage{Name: "concurrent@8", Kind: "concurrent", State: rundir.Complete, MaxConcurrency: 8,
			InterToken: rundir.Exactly(itl)}
		st.Requests = rundir.Requests{Due: 100, Sent: 100, OK: 100}
		st.Rates.Completed = rundir.Exactly(3)
		st.TokensPerS.Output = rundir.Exactly(300 * (1 + spread*rng.NormFloat64()))
		st.TTFT.Mean = rundir.Exactly(0.1 * (1 + spread*rng.NormFloat64()))
		run := &rundir.Run{
			Schema: rundir.Schema, State: rundir.Complete, Started: time.Date(2026, 10, 1+i, 2, 0, 0, 0, time.UTC),
			Client: rundir.Client{Valid: true},
			Labels: rundir.Labels{Model: "Qwen2-7B", GPU: "L20", GPUs: 1, Quant: "AWQ",
				Free: map[string]string{"commit": fmt.Sprintf("c%02d", i+1)}},
			Workload: rundir.Workload{PromptTokens: rundir.Lengths{Mean: 512}, OutputTokens: rundir.Lengths{Mean: 128}},
			Plan:     rundir.Plan{Kind: rundir.KindRun}, Stages: []rundir.Stage{st},
		}
		all = append(all, setup.Input{Path: fmt.Sprintf("nights/%02d", i+1), Run: run})
	}
	rng.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func of(t *testing.T, all []setup.Input) *History {
	t.Helper()
	h, err := Analyze(setup.Load(all), DefaultAlarms)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Where every series changed, no sentence counts the others.
func TestNoOtherSeries(t *testing.T) {
	h := of(t, nights(40, 0.01, func(i int) float64 { return 1 + 0.06*float64(i/34) }))
	h.Series = slices.DeleteFunc(h.Series, func(s Series) bool { return len(s.Changes) == 0 })
	if answer := h.Answer(); len(answer) != 1 {
		t.Errorf("answer %v, want one sentence", answer)
	}
}

// A step in one metric is found, dated and attributed to its commits, in both languages; the other series are quiet.
func TestStep(t *testing.T) {
	h := of(t, nights(40, 0.01, func(i int) float64 {
		if i >= 34 {
			return 1.06
		}
		return 1
	}))
	answer := h.Answer()
	if len(answer) != 2 {
		t.Fatalf("answer %v", answer)
	}
	for _, want := range []string{"ITL at concurrent@8 of Qwen2-7B", "longer",
		"between 2026-11-03 and 2026-11-04 (commit c34 to c35)"} {
		if !strings.Contains(answer[0].EN, want) {
			t.Errorf("no %q in %q", want, answer[0].EN)
		}
	}
	if want := "2 other series did not change."; answer[1].EN != want {
		t.Errorf("%q, want %q", answer[1].EN, want)
	}
	if !strings.Contains(answer[0].ZH, "变长") {
		t.Error(answer[0].ZH)
	}
	if s := h.Series[2]; len(s.Changes) != 1 || s.Changes[0].Low.Value() > 0.06 || s.Changes[0].High.Value() < 0.06 ||
		s.Changes[0].Better {
		t.Errorf("%+v", s.Changes)
	}
	// it was found two or three nights later, and not by the latest run
	if len(h.Regressions(false)) != 1 || len(h.Regressions(true)) != 0 {
		t.Errorf("worse: %q, new: %q", h.Regressions(false), h.Regressions(true))
	}
	var b bytes.Buffer
	for _, l := range lang.All() {
		b.Reset()
		if err := table.WriteSections(&b, "console", h.Sections(), table.Style{Lang: l, Width: 120}); err != nil {
			t.Fatal(err)
		}
		for _, want := range [][2]string{{"5.9 % (+5.2..+6.6)", "+5.9 % (+5.2..+6.6)"}, {"runs for 5 %", "检测 5 % 所需次数"}} {
			if !strings.Contains(b.String(), want[map[lang.Lang]int{lang.English: 0, lang.Chinese: 1}[l]]) ||
				strings.Contains(b.String(), "%!") {
				t.Errorf("no %q in\n%s", want, b.String())
			}
		}
	}
}

// The run that completes the evidence is the one that --fail-new fails.
func TestRegressionsOfLatestRun(t *testing.T) {
	for n := 35; n < 40; n++ {
		h := of(t, nights(n, 0.01, func(i int) float64 {
			if i >= 34 {
				return 1.08
			}
			return 1
		}))
		if len(h.Regressions(true)) == 1 {
			return
		}
	}
	t.Error("no night of the first five shows a step of 8 % at a spread of 1 %")
}

// A history without a change says so, and what it could have seen.
func TestNoChange(t *testing.T) {
	h := of(t, nights(40, 0.02, func(int) float64 { return 1 }))
	if got := h.Answer(); len(got) != 1 || got[0].EN != "none of the 3 series changed." {
		t.Errorf("%v", got)
	}
	if got := h.RequiredRuns().EN; !strings.HasPrefix(got, "A difference of 5 % in ") {
		t.Error(got)
	}
	for _, s := range h.Series {
		if v := s.Spread.Value(); v < 0.013 || v > 0.027 {
			t.Errorf("%s: spread %v, want about 0.02", s.Key, v)
		}
		if s.Needed < 2 || s.Needed > 6 { // 2 (z.975 + z.8)^2 0.02^2 / 0.05^2 = 2.5, and more with Student's t
			t.Errorf("%s: %d runs needed", s.Key, s.Needed)
		}
	}
	if len(h.Regressions(false)) > 0 {
		t.Error(h.Regressions(false))
	}
}

// Three runs do not tell the spread between runs: what they could show is n/a.
func TestTooFewRuns(t *testing.T) {
	h := of(t, nights(3, 0.02, func(int) float64 { return 1 }))
	if got := h.RequiredRuns().EN; !strings.Contains(got, "from 4 runs") {
		t.Error(got)
	}
	for _, row := range h.Noise().Table.Rows {
		if row[3].Text.EN != "n/a" || row[4].Text.EN != "n/a" {
			t.Errorf("%+v", row)
		}
	}
}

// Runs of which no two are alike have no history.
func TestNoCommonConfiguration(t *testing.T) {
	all := nights(2, 0, func(int) float64 { return 1 })
	all[0].Run.Labels.GPU = "A100"
	if _, err := Analyze(setup.Load(all), DefaultAlarms); err == nil || !strings.Contains(err.Error(), "same configuration") {
		t.Error(err)
	}
}
