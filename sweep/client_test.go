package sweep

import (
	"testing"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// starved waits like a client whose machine has no time for it.
type starved struct{ late time.Duration }

func (s starved) Wait(until time.Time, quit <-chan struct{}) bool {
	select {
	case <-time.After(time.Until(until.Add(s.late))):
		return true
	case <-quit:
		return false
	}
}

// Stages that the client itself spoiled are invalid, and not part of the answer.
func TestAStarvedClientMarksItsRows(t *testing.T) {
	t.Parallel()
	for _, late := range []time.Duration{0, 80 * time.Millisecond} {
		simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
			c, run := experimentWith(d, simtest.SameInAll(64, 16)), &rundir.Run{}
			c.Waiter, c.Points, c.StageTime, c.StageMax = starved{late}, 3, 5*time.Second, 15*time.Second
			if err := Sweep(t.Context(), c, run); err != nil {
				t.Fatal(err)
			}
			for _, st := range run.Stages {
				spoiled := st.Rate.Known() && late > 0
				if (!st.Invalid.IsZero()) != spoiled {
					t.Errorf("%v late: %s is marked %q", late, st.Name, st.Invalid)
				}
				if spoiled && st.Invalid.Code != "client.sent-late" {
					t.Errorf("%q is not that requests were sent late", st.Invalid)
				}
			}
			if run.Client.Valid != (late == 0) {
				t.Errorf("%v late: the client is called fit: %v", late, run.Client.Valid)
			}
			if s := run.Saturation; late > 0 && s != nil && (s.LowestSaturated.Known() || s.HighestStable.Known()) {
				t.Errorf("rows that the client spoiled bracket the answer: %+v", s)
			}
		})
	}
}
