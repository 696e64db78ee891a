package saturation

import (
	"testing"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// A fault that hits a part of the requests at every load is named; one that comes with the load is not.
func TestAFaultAtEveryLoad(t *testing.T) {
	stage := func(role rundir.Role, ok, failed int) rundir.Stage {
		return rundir.Stage{Role: role, Requests: rundir.Requests{OK: ok, Error: failed},
			Errors: map[string]int{"http_5xx": failed}}
	}
	closed := func(role rundir.Role) rundir.Stage {
		return rundir.Stage{Role: role, Requests: rundir.Requests{OK: 80, Error: 20},
			Errors: map[string]int{string(client.ClassReset): 20}}
	}
	for name, c := range map[string]struct {
		stages []rundir.Stage
		want   bool
	}{
		"every fifth": {[]rundir.Stage{stage(rundir.Synchronous, 16, 4), stage(rundir.Grid, 80, 20),
			stage(rundir.Probe, 300, 90)}, true},
		"under load": {[]rundir.Stage{stage(rundir.Synchronous, 20, 0), stage(rundir.Grid, 80, 20),
			stage(rundir.Probe, 300, 90)}, false},
		"once":      {[]rundir.Stage{stage(rundir.Synchronous, 18, 2), stage(rundir.Grid, 100, 0)}, false},
		"one alone": {[]rundir.Stage{stage(rundir.Synchronous, 19, 1), stage(rundir.Grid, 80, 20)}, false},
		"none":      {nil, false},
		// another note says so
		"connections that are closed": {[]rundir.Stage{closed(rundir.Synchronous), closed(rundir.Grid)}, false},
	} {
		n := failsAlwaysNote(c.stages)
		if n.Is(FailsAlways) != c.want {
			t.Errorf("%s: %+v", name, n)
		}
		if class := n.String("class"); c.want && class != "http_5xx" {
			t.Errorf("%s: class %q", name, class)
		}
	}
}

// Pauses are blamed on the server alone only where it has a machine of its own.
func TestPausesOfThisMachine(t *testing.T) {
	for url, here := range map[string]bool{"http://127.0.0.1:8000": true, "http://localhost:8000/v1": true,
		"http://[::1]:80": true, "http://gpu-1:8000": false, "": false} {
		run := &rundir.Run{Target: rundir.Target{URL: url}}
		if n := attributePauses(run, notePauses.New(5, 0.141, 60)); n.Is(notePausesHere) != here {
			t.Errorf("%s: %s", url, n.Code)
		}
	}
}
