package sweep

import (
	"slices"
	"testing"
	"time"

	"llmsweep/client/note"
	"llmsweep/client/sim/habit"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// After an overload the load falls to 80 % of what a collapsing server sustains. One that slows down without limit has a queue that it never
// works off at that rate; one that slows down little works it off. A plain server is spared.
func TestReboundIsMeasured(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		habits         habit.List
		measured, back bool
	}{
		{habit.List{habit.Collapses{Share: 0.3}}, true, false},
		{habit.List{habit.Collapses{Share: 0.5, Worst: 1.2}}, true, true},
		{nil, false, false},
	} {
		server := simtest.Preset(t, "plain8")
		server.Habits = c.habits
		run := &rundir.Run{}
		simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
			x := experimentWith(d, simtest.SameInAll(64, 32))
			x.Points, x.StageTime, x.StageMax, x.Seed = 6, 30*time.Second, time.Minute, 3
			if err := Sweep(t.Context(), x, run); err != nil {
				t.Fatal(err)
			}
		})
		r := run.Rebound
		if (r != nil) != c.measured {
			t.Errorf("%v: measured is %v, saturation %+v", c.habits, r != nil, run.Saturation)
			continue
		}
		said := slices.IndexFunc(run.Warnings, func(n note.Note) bool { return n.Code == "collapse.rebounds" || n.Code == "collapse.stays" })
		if (said >= 0) != c.measured {
			t.Errorf("%v: warnings %v", c.habits, run.Warnings)
		}
		if !c.measured {
			continue
		}
		if r.Took.Known() != c.back || (run.Warnings[said].Code == "collapse.rebounds") != c.back {
			t.Errorf("%v: back is %v, %+v, %v", c.habits, r.Took.Known(), r, run.Warnings[said])
		}
		t.Logf("%v: sustains %.2f, rebound %+v", c.habits, run.Saturation.Rate.Value(), *r)
	}
}
