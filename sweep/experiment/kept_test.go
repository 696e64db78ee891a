package experiment

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// A run whose server crashed goes on before the stages in which it crashed, and not only before those that got no
// answer at all. A server that always breaks some connections has not crashed.
func TestStagesOfACrashAreNotKept(t *testing.T) {
	stage := func(name string, ok, resets, refused int) rundir.Stage {
		st := rundir.Stage{Name: name, State: rundir.Complete, Requests: rundir.Requests{OK: ok, Error: resets + refused},
			Errors: map[string]int{}}
		if resets > 0 {
			st.Errors["reset"] = resets
		}
		if refused > 0 {
			st.Errors["http_429"] = refused
		}
		return st
	}
	for name, c := range map[string]struct {
		stages []rundir.Stage
		want   int
	}{
		"crash": {[]rundir.Stage{stage("synchronous", 10, 0, 0), stage("throughput", 54, 64, 0),
			stage("poisson@5.64", 0, 20, 0)}, 1},
		"refusals": {[]rundir.Stage{stage("synchronous", 10, 0, 0), stage("throughput", 54, 0, 64),
			stage("poisson@5.64", 0, 20, 0)}, 2},
		"every time": {[]rundir.Stage{stage("synchronous", 8, 2, 0), stage("throughput", 80, 25, 0),
			stage("poisson@5.64", 0, 20, 0)}, 2},
	} {
		if got := len(Kept(&rundir.Run{State: rundir.Failed, Stages: c.stages})); got != c.want {
			t.Errorf("%s: %d stages are kept, want %d", name, got, c.want)
		}
	}
}
