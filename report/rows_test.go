package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// A stage that completed more than the answer and its interval is named, whatever its kind.
func TestFasterStagesOfRealRun(t *testing.T) {
	run, err := store.Open("testdata/native")
	if err != nil {
		t.Fatal(err)
	}
	more := func(l lang.Lang) string {
		lines := findings.Warnings(run, l)
		i := slices.IndexFunc(lines, func(s string) bool {
			return strings.Contains(s, "synchronous（") || strings.Contains(s, "synchronous (")
		})
		if i < 0 {
			return ""
		}
		return lines[i]
	}
	run.Answer, run.Warnings = nil, nil
	for _, l := range []lang.Lang{lang.English, lang.Chinese} {
		if got := more(l); !strings.Contains(got, "16.20 req/s") || !strings.Contains(got, "16.34 req/s") ||
			!strings.Contains(got, " 15 req/s") || strings.Contains(got, "8.17") {
			t.Errorf("%s: %q", l, got)
		}
	}
	run.Saturation.High = rundir.Exactly(17)
	if got := more(lang.English); got != "" {
		t.Errorf("all is within the interval, and yet: %s", got)
	}
}

// "Offered" is what arrived: on the axis it is never the planned rate, which names the stage.
func TestOfferedRateOnAxis(t *testing.T) {
	run := sweptRun()
	for i := range run.Stages { // chance makes a difference of some per cent
		if s := &run.Stages[i]; s.Rate.Known() {
			s.Rates.Offered = rundir.Exactly(s.Rate.Value() * (1 + 0.04*math.Pow(-1, float64(i))))
		}
	}
	spots := draw.OutputByRate(&run).Panels[0].Series[0].Points
	for i := range run.Stages {
		s := &run.Stages[i]
		if !s.Rate.Known() {
			continue
		}
		at := slices.IndexFunc(spots, func(p draw.Point) bool {
			return p.X == s.Rates.Offered.Value() &&
				p.Y == s.TokensPerS.Output.Value()
		})
		if at < 0 {
			t.Errorf("%s is not drawn at the %v req/s that it was offered: %v", s.Name, s.Rates.Offered.Value(), spots)
		}
	}
}

// A stage whose server froze is not said to meet an SLO, and the sentence gives the reason.
func TestFrozenStageMissesSLO(t *testing.T) {
	run := sweptRun()
	s := run.Stages[1]
	s.FrozenSince = rundir.Exactly(4.35)
	s.Goodput = &rundir.Goodput{
		Rate: rundir.Exactly(3.5), Share: rundir.Exactly(0.9), Verdict: "broken",
		Terms: []rundir.TermResult{{Term: "ttft:p90<500ms", Verdict: "broken", Value: rundir.Exactly(0.026)}},
	}
	run.Plan.Kind, run.SLO, run.Saturation, run.Stages = "run", nil, nil, []rundir.Stage{s}
	said := strings.Join(findings.Answer(&run, lang.English), "\n")
	if !strings.Contains(said, "throughput misses ttft:p90<500ms: the server stopped answering after 4.35 s") {
		t.Error(said)
	}
}
