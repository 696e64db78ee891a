package findings

import (
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// TestNoAnswerContradictsARow: "no rate was shown to be saturated" is not said beside a saturated row, nor "stable" beside a stable one; and what a
// reader of the rate must know stands next to it.
func TestNoAnswerContradictsARow(t *testing.T) {
	row := func(rate float64, verdict rundir.Verdict) rundir.Stage {
		return rundir.Stage{
			Name: "poisson", State: rundir.Complete, Rate: rundir.Exactly(rate), Verdict: verdict, Requests: rundir.Requests{OK: 10},
			Rates: rundir.Rates{Offered: rundir.Exactly(rate)},
		}
	}
	const noneSaturated, noneStable = "no rate was shown to be saturated", "no rate was shown to be stable"
	f := rundir.Exactly
	for _, c := range []struct {
		verdicts     []rundir.Verdict // at 10 and 20 req/s
		low, high    float64          // of the bracket
		say, saysNot string
	}{
		{[]rundir.Verdict{rundir.Stable, rundir.Saturated}, 10, 0, "Stable up to 10.00", noneSaturated},
		{[]rundir.Verdict{rundir.Stable, rundir.Undecided}, 10, 0, noneSaturated, noneStable},
		{[]rundir.Verdict{rundir.Undecided, rundir.Stable}, 0, 0, "Stable up to 20.00", noneStable},
		{[]rundir.Verdict{rundir.Stable, rundir.Saturated}, 0, 20, "Stable up to 10.00 req/s offered, saturated from 20.00", noneStable},
		{[]rundir.Verdict{rundir.Saturated, rundir.Stable}, 0, 10, "Saturated from 10.00", noneStable},
		{[]rundir.Verdict{rundir.Undecided, rundir.Saturated}, 0, 20, noneStable, noneSaturated},
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

// TestWhatMoreWasCompleted: what a stage completed beyond the answer is explained by what the server does.
func TestWhatMoreWasCompleted(t *testing.T) {
	f := rundir.Exactly
	stage := func(role rundir.Role, done float64) rundir.Stage {
		return rundir.Stage{
			Name: string(role), Role: role, State: rundir.Complete, Requests: rundir.Requests{OK: 10}, Rates: rundir.Rates{Completed: f(done)},
			Progress: rundir.Progress{Rate: f(done), Low: f(done), High: f(done)},
		}
	}
	for name, c := range map[string]struct {
		role  rundir.Role
		want  string
		sat   rundir.Saturation
		notes []note.Note
	}{
		"plain":    {rundir.Ceiling, "the rate that is completed when more arrives", rundir.Saturation{}, nil},
		"collapse": {rundir.Ceiling, "a queue slows this server", rundir.Saturation{Overload: f(3)}, nil},
		"changed":  {rundir.Ceiling, "", rundir.Saturation{Cautions: []note.Note{{Code: "saturation.changed"}}}, nil},
	} {
		c.sat.Rate, c.sat.Low, c.sat.High = f(15), f(14), f(16)
		run := &rundir.Run{Saturation: &c.sat, Warnings: c.notes, Stages: []rundir.Stage{stage(c.role, 19)}}
		if got := moreDone(run, lang.English); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A fault at every load is the first sentence of an answer, in both languages.
func TestAFaultAtEveryLoadComesFirst(t *testing.T) {
	f := rundir.Exactly
	run := &rundir.Run{State: rundir.Complete, Saturation: &rundir.Saturation{Rate: f(19.4), Low: f(18.6), High: f(20.3)}}
	run.Warnings = []note.Note{{Code: "habit.drops"}, saturation.FailsAlways.New(0.2, 0.19, "http_5xx")}
	for l, want := range map[lang.Lang]string{
		lang.English: "20 % of the requests fail at every load, also 19 % of those sent one at a time (http_5xx).",
		lang.Chinese: "各种负载下都有 20 % 的请求失败，逐个发送的请求也有 19 % 失败（http_5xx）。",
	} {
		if got := Answer(run, l); len(got) < 2 || got[0] != want {
			t.Errorf("%q, want %q first", got, want)
		}
	}
}
