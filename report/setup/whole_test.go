package setup

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// Beside a closed loop with its start and end in it, as benchmarks of engines print them, ours counts with its own in
// it.
func TestWholeRunsAreComparedWithWholeRuns(t *testing.T) {
	loop := func(whole bool, steady, all float64) Input {
		st := rundir.Stage{
			Name: "concurrent@8", Kind: "concurrent", State: rundir.Complete, Role: rundir.Single, MaxConcurrency: 8,
			Whole:    whole,
			Requests: rundir.Requests{Due: 80, OK: 80}, Rates: rundir.Rates{Completed: rundir.Exactly(steady)},
		}
		if !whole {
			st.WholeRun = &rundir.WholeRun{Requests: st.Requests, Rates: rundir.Rates{Completed: rundir.Exactly(all)}}
		}
		return Input{Run: &rundir.Run{Stages: []rundir.Stage{st}}}
	}
	for _, c := range []struct {
		other Input
		want  float64
	}{{loop(false, 10, 8), 10}, {loop(true, 8, 0), 8}} {
		own := loop(false, 10, 8)
		if got := Load([]Input{own, c.other})[0].Rows[0].Served; got != c.want {
			t.Errorf("%v req/s beside %+v, want %v", got, c.other.Run.Stages[0], c.want)
		}
		if own.Run.Stages[0].WholeRun == nil {
			t.Error("the run was changed")
		}
	}
}
