package findings

import (
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// TestNoAnswerContradictsARow: "no rate was shown to be saturated" is not said beside a saturated row, nor "stable" beside a stable one; and what a
// reader of the rate must know stands next to it.
func TestNoAnswerContradictsARow(t *testing.T) {
	row := func(rate float64, verdict string) rundir.Stage {
		return rundir.Stage{
			Name: "poisson", State: rundir.Complete, Rate: rundir.Exactly(rate), Verdict: verdict, Requests: rundir.Requests{OK: 10},
			Rates: rundir.Rates{Offered: rundir.Exactly(rate)},
		}
	}
	const noneSaturated, noneStable = "no rate was shown to be saturated", "no rate was shown to be stable"
	f := rundir.Exactly
	for _, c := range []struct {
		verdicts     []string // at 10 and 20 req/s
		low, high    float64  // of the bracket
		say, saysNot string
	}{
		{[]string{rundir.Stable, rundir.Saturated}, 10, 0, "Stable up to 10.00", noneSaturated},
		{[]string{rundir.Stable, rundir.Undecided}, 10, 0, noneSaturated, noneStable},
		{[]string{rundir.Stable, rundir.Saturated}, 0, 20, "Saturated from 20.00", noneStable},
		{[]string{rundir.Undecided, rundir.Saturated}, 0, 20, noneStable, noneSaturated},
	} {
		run := &rundir.Run{
			Plan: rundir.Plan{Kind: rundir.KindSweep}, State: rundir.Complete, Stages: []rundir.Stage{row(10, c.verdicts[0]), row(20, c.verdicts[1])},
			Saturation: &rundir.Saturation{Rate: f(15), Low: f(14), High: f(16), Cautions: []note.Note{note.Text.New("with care")}},
		}
		if c.low > 0 {
			run.Saturation.HighestStable = f(c.low)
		}
		if c.high > 0 {
			run.Saturation.LowestSaturated = f(c.high)
		}
		lines := Answer(run, lang.English)
		text := strings.Join(lines, "\n")
		if !strings.Contains(text, c.say) || strings.Contains(text, c.saysNot) || !strings.Contains(strings.ToLower(lines[1]), "with care") {
			t.Errorf("%v, %v-%v:\n%s", c.verdicts, c.low, c.high, text)
		}
	}
}
