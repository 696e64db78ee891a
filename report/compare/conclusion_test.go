package compare

import (
	"testing"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// TestLatencyIsThatOfTheAnswer: the latency at 80 % of the saturation rate is the one that a run's own reports print.
func TestLatencyIsThatOfTheAnswer(t *testing.T) {
	setups := twoRuns(1.05, 0.01)
	c := compared(t, setups)
	for i := range setups {
		feels := saturation.AnswerOf(setups[i].Run).Comfortable
		ttft, ok := c.Setups[i].Get("ttft@80")
		if feels == nil || !ok || ttft.Value != feels.TTFTMean {
			t.Errorf("%s: TTFT %v, by its answer %+v", c.Setups[i].Name, ttft.Value, feels)
		}
	}
}

// TestDifferencesWithoutAnIntervalAreNotJudged: where other differences have an interval, the sentence does not list
// one without among those that are shown.
func TestDifferencesWithoutAnIntervalAreNotJudged(t *testing.T) {
	yes, no := true, false
	n := rundir.Exactly
	all := []Change{
		{Setup: "new", From: "old", Key: keyRate, Ratio: n(-0.25), Low: n(-0.3), High: n(-0.2), Shown: &yes},
		{Setup: "new", From: "old", Key: keyOutput, Ratio: n(0.01), Low: n(-0.05), High: n(0.06), Shown: &no},
		{Setup: "new", From: "old", Key: "ttft@80", Ratio: n(0.09)},
		{Setup: "new", From: "old", Key: "itl@80", Ratio: n(0.5), Bound: BoundLow},
	}
	for _, tt := range []struct {
		changes []Change
		want    string
	}{
		{all, "new against old: saturation -25.0 % (-30.0..-20.0), ITL 80 % > +50.0 %, no difference is shown in output ~ (-5.0..+6.0), without an interval: TTFT 80 % +9.0 %."},
		{all[2:3], "new against old: TTFT 80 % +9.0 %."}, // published results have no intervals
	} {
		c := &Comparison{Changes: tt.changes}
		if got := c.setupSentence("new").In(lang.English); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
