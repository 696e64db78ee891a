package twin

import (
	"math"
	"testing"

	"llmsweep/sweep/rundir"
)

// A prediction whose interval is wider than a factor of four is none.
func TestWidePredictionsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		rate, low, high float64
		refused         string
	}{
		"narrow":          {3, 2, 5, ""},
		"a factor of 4":   {4, 2, 8, ""},
		"wider":           {4, 1.9, 8, RefusedWide},
		"no end":          {3.337, 4e-7, 27625896, RefusedWide},
		"cannot be held":  {0, 0, 0, RefusedHolds},
		"nothing beneath": {3, 0, 5, RefusedWide},
	} {
		if a := (Answer{}).with(c.rate, c.low, c.high); a.Refused != c.refused || (a.Rate > 0) != (c.refused == "") {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// TestOneAnswer: the saturation rate beside a measured one is what the twin answers when it is asked, and is refused where that is.
func TestOneAnswer(t *testing.T) {
	loop := LoadedStages{Stage: Stage{Name: "concurrent@4", Width: 4, Window: 10}}
	for i := range 8 {
		loop.Requests = append(loop.Requests, StageRequest{Prompt: 64, Output: 10, Whole: true, Tokens: []float64{float64(i) + 0.5}, Gone: float64(i) + 0.5})
	}
	known, unknown := steady(), steady()
	unknown.Draws = [][]float64{{0.1, 0, 0, 0, 0, 0, 0, 0}, {1000, 0, 0, 0, 0, 0, 0, 0}}
	searched := &rundir.Run{Saturation: &rundir.Saturation{Rate: rundir.Exactly(39)}}
	for _, tw := range []*Twin{known, unknown} {
		want := tw.Ask(only(64, 10))
		for _, run := range []*rundir.Run{searched, {}} {
			var c Comparison
			c.saturation(tw, run, loop.lengths(), &loop)
			got, of := c.Saturation, 1.0
			if run != searched {
				of = 10 // tokens of an answer
			}
			if got.Refused != want.Refused || math.Abs(got.Predicted-of*want.Rate) > 1e-9 || got.Interval != [2]float64{of * want.Low, of * want.High} {
				t.Errorf("%+v, and asked %+v", got, want)
			}
		}
	}
	if a := unknown.Ask(only(64, 10)); a.Refused != RefusedWide {
		t.Errorf("%+v", a)
	}
}
