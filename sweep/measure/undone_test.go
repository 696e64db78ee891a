package measure

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// Work that is not done makes a verdict on the backlog another one, where there is enough of it.
func TestUndoneWork(t *testing.T) {
	for _, c := range []struct {
		verdict                rundir.Verdict
		failed, refused, ended int
		want                   rundir.Verdict
	}{
		{rundir.Stable, 0, 0, 40, rundir.Stable},
		{rundir.Stable, 1, 0, 1000, rundir.Stable},
		{rundir.Stable, 1, 0, 40, rundir.Undecided},     // 2.5 %, which may be 10
		{rundir.Stable, 60, 60, 1000, rundir.Undecided}, // 6 %, which may be 4
		{rundir.Stable, 90, 90, 1000, rundir.Shedding},
		{rundir.Stable, 206, 206, 400, rundir.Shedding},
		{rundir.Stable, 206, 0, 400, rundir.Undecided}, // that is no answer to too much load
		{rundir.Undecided, 206, 206, 400, rundir.Shedding},
		{rundir.Undecided, 20, 0, 1000, rundir.Undecided},
		{rundir.Stable, 40, 0, 40, rundir.Undecided}, // nothing was answered
		{rundir.Stable, 40, 40, 40, rundir.Shedding},
		{rundir.Saturated, 206, 206, 400, rundir.Saturated},
	} {
		if got := (Undone{Failed: c.failed, Refused: c.refused, Ended: c.ended,
			Tolerance: 0.05}).Judge(c.verdict); got != c.want {
			t.Errorf("%s with %d of %d undone is %s, want %s", c.verdict, c.failed, c.ended, got, c.want)
		}
	}
}
