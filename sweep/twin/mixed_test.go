package twin

import (
	"math"
	"testing"
)

// TestAMixedLoad: equal requests are predicted as such, and a mix of short and long answers by its mean work: steps take 10 ms, four requests
// at once.
func TestAMixedLoad(t *testing.T) {
	tw := &Twin{Version: Version, Slots: 4, StepTokens: 2048, Step: Step{Read: Read{FixedMS: 10}}, Seen: Seen{Prompt: [2]int{8, 400}, Output: [2]int{4, 40}}}
	for _, c := range []struct {
		lengths [][2]int
		want    float64
	}{
		{[][2]int{{64, 10}}, 40},
		{[][2]int{{64, 5}, {64, 35}}, 20},
	} {
		a := tw.Ask(Mixed{Name: "x", Lengths: c.lengths})
		if math.Abs(a.Rate/c.want-1) > 0.03 || a.Low > a.Rate || a.High < a.Rate || a.Extrapolated || a.Refused != "" {
			t.Errorf("%v: %+v, want %v", c.lengths, a, c.want)
		}
	}
	if a := tw.Ask(Mixed{Name: "x", Lengths: [][2]int{{64, 10}, {900, 10}}}); a.Refused != RefusedFar {
		t.Errorf("%+v", a)
	}
}

// only is a load of equal requests.
func only(prompt, output int) Mixed { return Mixed{Lengths: [][2]int{{prompt, output}}} }
