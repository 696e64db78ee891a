package history

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"llmsweep/client/testkit"
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

// stepAt multiplies what is measured from a night on.
func stepAt(night int, factor float64) func(int) float64 {
	return func(i int) float64 {
		if i >= night {
			return factor
		}
		return 1
	}
}

func analyzed(all []setup.Input) *History {
	return testkit.Must(Analyze(setup.Load(all), DefaultAlarms))
}

// A step in one metric is found, dated and attributed to its commits, in both languages; the other series are quiet.
// Where every series changed, no sentence counts the others.
func TestStep(t *testing.T) {
	h := analyzed(nights(40, 0.01, stepAt(34, 1.06)))
	if s := h.Series[2]; len(s.Changes) != 1 || s.Changes[0].Low.Value() > 0.06 || s.Changes[0].High.Value() < 0.06 ||
		s.Changes[0].Better {
		t.Errorf("%+v", s.Changes)
	}
	// it was found two or three nights later, and not by the latest run
	if len(h.Regressions(false)) != 1 || len(h.Regressions(true)) != 0 {
		t.Errorf("worse: %q, new: %q", h.Regressions(false), h.Regressions(true))
	}
	for _, l := range lang.All() {
		var b bytes.Buffer
		fmt.Fprintln(&b, strings.Join(lang.In(h.Answer(), l), "\n"))
		if err := table.WriteSections(&b, "console", h.Sections(), table.Style{Lang: l, Width: 120}); err != nil {
			t.Fatal(err)
		}
		testkit.CheckGolden(t, "step."+string(l)+".txt", b.Bytes())
	}
	h.Series = slices.DeleteFunc(h.Series, func(s Series) bool { return len(s.Changes) == 0 })
	if answer := h.Answer(); len(answer) != 1 {
		t.Errorf("answer %v, want one sentence", answer)
	}
}

// The run that completes the evidence is the one that --fail-new fails.
func TestRegressionsOfLatestRun(t *testing.T) {
	for n := 35; n < 40; n++ {
		if len(analyzed(nights(n, 0.01, stepAt(34, 1.08))).Regressions(true)) == 1 {
			return
		}
	}
	t.Error("no night of the first five shows a step of 8 % at a spread of 1 %")
}

// A history without a change says so, and what it could have seen. Three runs do not tell the spread between runs: what
// they could show is n/a. Runs of which no two are alike have no history.
func TestNoChange(t *testing.T) {
	h := analyzed(nights(40, 0.02, stepAt(40, 1)))
	if got := h.Answer(); len(got) != 1 || got[0].EN != "none of the 3 series changed." || len(h.Regressions(false)) > 0 ||
		!strings.HasPrefix(h.RequiredRuns().EN, "A difference of 5 % in ") {
		t.Errorf("%v, %v", got, h.RequiredRuns())
	}
	for _, s := range h.Series { // 2 (z.975 + z.8)^2 0.02^2 / 0.05^2 = 2.5 runs, and more with Student's t
		if v := s.Spread.Value(); v < 0.013 || v > 0.027 || s.Needed < 2 || s.Needed > 6 {
			t.Errorf("%s: spread %v, want about 0.02; %d runs needed", s.Key, v, s.Needed)
		}
	}
	few := analyzed(nights(3, 0.02, stepAt(3, 1)))
	if got := few.RequiredRuns().EN; !strings.Contains(got, "from 4 runs") {
		t.Error(got)
	}
	for _, row := range few.Noise().Table.Rows {
		if row[3].Text.EN != "n/a" || row[4].Text.EN != "n/a" {
			t.Errorf("%+v", row)
		}
	}
	unlike := nights(2, 0, stepAt(2, 1))
	unlike[0].Run.Labels.GPU = "A100"
	_, err := Analyze(setup.Load(unlike), DefaultAlarms)
	if err == nil || !strings.Contains(err.Error(), "same configuration") {
		t.Error(err)
	}
}
