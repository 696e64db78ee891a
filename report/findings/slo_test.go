package findings

import (
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0", 4.3e-8: "0", 0.00017: "0.017", 0.0017: "0.17", 0.022: "2.2",
		0.126: "13", 0.999: "100", 1: "100"} {
		if got := percent(share); got != want {
			t.Errorf("%v is %s %%, want %s", share, got, want)
		}
	}
}

// TestMissedTermsNamed: a row that misses one term, and is unsure of another, misses one.
func TestMissedTermsNamed(t *testing.T) {
	s := &rundir.Stage{Name: "poisson@3.00", Goodput: &rundir.Goodput{Verdict: rundir.Missed, Terms: []rundir.TermResult{
		{Term: "ttft:p90<300ms", Verdict: rundir.Unsure},
		{Term: "errors<1%", Verdict: rundir.Missed, Value: rundir.Exactly(0.33)},
	}}}
	if got, want := rowSLO(s, lang.English), "asynchronous@3.00 misses errors<1%: errors is 33%."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNoAnswerReasonOnce: the reason, with what to run next, stands in the answer, and not among the
// warnings again.
func TestNoAnswerReasonOnce(t *testing.T) {
	run := &rundir.Run{
		Plan: rundir.Plan{Kind: rundir.KindSweep}, State: rundir.Complete, Client: rundir.Client{Valid: true},
		Warnings: []note.Note{{Code: "saturation.none", Args: map[string]any{"guess": 8.0}}},
		Answer:   &rundir.Answer{Kind: rundir.Unanswerable, Needed: rundir.Exactly(480)},
	}
	answer, warnings := strings.Join(Answer(run, lang.English), " "), strings.Join(Warnings(run, lang.English), " ")
	if !strings.Contains(answer, "No rate was held") ||
		!strings.Contains(answer, "Run it again with --budget 8m to find the limit.") || warnings != "" {
		t.Errorf("answer %q, warnings %q", answer, warnings)
	}
}
