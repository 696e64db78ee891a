package compare

import (
	"testing"

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
