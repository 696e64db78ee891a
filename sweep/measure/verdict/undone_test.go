package verdict

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// Work that is not done makes a verdict on the backlog another one, where there is enough of it.
func TestUndoneWork(t *testing.T) {
	for _, c := range []struct {
		verdict       string
		failed, ended int
		want          string
	}{
		{rundir.Stable, 0, 40, rundir.Stable},
		{rundir.Stable, 1, 1000, rundir.Stable},
		{rundir.Stable, 1, 40, rundir.Undecided}, // 2.5 %, which may be 10
		{rundir.Stable, 60, 1000, rundir.Shedding},
		{rundir.Stable, 206, 400, rundir.Shedding},
		{rundir.Undecided, 206, 400, rundir.Shedding},
		{rundir.Undecided, 20, 1000, rundir.Undecided},
		{rundir.Saturated, 206, 400, rundir.Saturated},
	} {
		if got := (Undone{c.failed, c.ended, 0.05}).Judge(c.verdict); got != c.want {
			t.Errorf("%s with %d of %d undone is %s, want %s", c.verdict, c.failed, c.ended, got, c.want)
		}
	}
}
