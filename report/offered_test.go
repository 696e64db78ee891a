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
)

// "Offered" is what arrived: on the axis it is never the planned rate, which names the stage.
func TestOfferedIsWhatArrived(t *testing.T) {
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
func TestAFrozenStageMissesItsSLO(t *testing.T) {
	run := sweptRun()
	s := run.Stages[1]
	s.FrozenSince = rundir.Exactly(4.35)
	s.Goodput = &rundir.Goodput{
		Rate: rundir.Exactly(3.5), Share: rundir.Exactly(0.9), Verdict: "broken",
		Terms: []rundir.Promise{{Term: "ttft:p90<500ms", Verdict: "broken", Value: rundir.Exactly(0.026)}},
	}
	run.Plan.Kind, run.SLO, run.Saturation, run.Stages = "run", nil, nil, []rundir.Stage{s}
	said := strings.Join(findings.Answer(&run, lang.English), "\n")
	if !strings.Contains(said, "throughput misses ttft:p90<500ms: the server stopped answering after 4.35 s") {
		t.Error(said)
	}
}
