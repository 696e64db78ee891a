package sweep

import (
	"testing"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// The sweep that the budget cuts says so.
func TestAShortBudgetGivesALowerBound(t *testing.T) {
	t.Parallel()
	server, w := simtest.Preset(t, "Qwen2-7B/L20/fp16"), simtest.SameInAll(512, 128)
	simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
		c, run := experimentWith(d, w), &rundir.Run{}
		c.Budget, c.Points = time.Minute, 3
		if err := Sweep(t.Context(), c, run); err != nil {
			t.Fatal(err)
		}
		truth := w.Capacity(server).RequestsPerSecond
		if s := run.Saturation; s == nil || !s.Rate.Bound() || s.Rate.Value() > 1.05*truth || s.Low.Known() {
			t.Errorf("capacity %.2f, found %+v", truth, s)
		}
	})
}
