package sweep

import (
	"context"
	"slices"
	"testing"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// A pause of ten minutes before the third stage is a note, and no part of a budget of two minutes: the sweep measures as many stages as
// without it.
func TestAPauseIsNotOfTheBudget(t *testing.T) {
	t.Parallel()
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		const pause = 10 * time.Minute
		measured := map[bool]int{}
		for _, pauses := range []bool{false, true} {
			c, run := experimentWith(d, simtest.SameInAll(64, 16)), &rundir.Run{}
			c.Budget, c.Points = 2*time.Minute, 4
			calls := 0
			c.Pause = func(context.Context) time.Duration {
				if calls++; calls != 3 || !pauses {
					return 0
				}
				time.Sleep(pause)
				return pause
			}
			began := time.Now()
			if err := Sweep(t.Context(), c, run); err != nil {
				t.Fatal(err)
			}
			took := time.Since(began)
			if pauses {
				took -= pause
			}
			if run.State != rundir.Complete || took > c.Budget+5*time.Second {
				t.Errorf("state %s after %v of %v", run.State, took, c.Budget)
			}
			noted := slices.ContainsFunc(run.Warnings, func(n note.Note) bool {
				return n.Code == "run.paused" && n.Args["time"] == pause.Seconds() && n.Args["stage"] == run.Stages[2].Name
			})
			if noted != pauses {
				t.Errorf("paused: %v, noted: %v in %v", pauses, noted, run.Warnings)
			}
			for _, s := range run.Stages {
				measured[pauses] += int(s.Window)
			}
		}
		if a, b := measured[false], measured[true]; b < a*8/10 {
			t.Errorf("%d s of windows with the pause, %d s without", b, a)
		}
	})
}
