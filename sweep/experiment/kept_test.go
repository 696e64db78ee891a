package experiment

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// A run whose server crashed goes on before the stages in which it crashed, and not only before those that got no
// answer at all. A server that always breaks some connections has not crashed.
func TestStagesOfACrashAreNotKept(t *testing.T) {
	type stage struct{ ok, resets, refused int }
	for name, c := range map[string]struct {
		stages []stage
		want   int
	}{
		"crash":      {[]stage{{10, 0, 0}, {54, 64, 0}, {0, 20, 0}}, 1},
		"refusals":   {[]stage{{10, 0, 0}, {54, 0, 64}, {0, 20, 0}}, 2},
		"every time": {[]stage{{8, 2, 0}, {80, 25, 0}, {0, 20, 0}}, 2},
	} {
		run := &rundir.Run{State: rundir.Failed}
		for i, s := range c.stages {
			st := rundir.Stage{Name: []string{"synchronous", "throughput", "poisson@5.64"}[i], State: rundir.Complete,
				Requests: rundir.Requests{OK: s.ok, Error: s.resets + s.refused}, Errors: map[string]int{}}
			if s.resets > 0 {
				st.Errors["reset"] = s.resets
			}
			if s.refused > 0 {
				st.Errors["http_429"] = s.refused
			}
			run.Stages = append(run.Stages, st)
		}
		if got := len(Kept(run)); got != c.want {
			t.Errorf("%s: %d stages are kept, want %d", name, got, c.want)
		}
	}
}
