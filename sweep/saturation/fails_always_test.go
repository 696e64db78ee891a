package saturation

import (
	"testing"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// A fault that hits a part of the requests at every load is named; one that comes with the load is not.
func TestAFaultAtEveryLoad(t *testing.T) {
	stage := func(role rundir.Role, ok, failed int, class string) rundir.Stage {
		return rundir.Stage{Role: role, Requests: rundir.Requests{OK: ok, Error: failed},
			Errors: map[string]int{class: failed}}
	}
	const fault, closed = "http_5xx", string(client.ClassReset)
	alone, load := rundir.Synchronous, rundir.Grid
	for name, c := range map[string]struct {
		stages []rundir.Stage
		want   bool
	}{
		"every fifth": {[]rundir.Stage{stage(alone, 16, 4, fault), stage(load, 80, 20, fault)}, true},
		"under load":  {[]rundir.Stage{stage(alone, 20, 0, fault), stage(load, 80, 20, fault)}, false},
		"once":        {[]rundir.Stage{stage(alone, 18, 2, fault), stage(load, 100, 0, fault)}, false},
		"none":        {nil, false},
		// another note says so
		"connections that are closed": {[]rundir.Stage{stage(alone, 80, 20, closed), stage(load, 80, 20, closed)}, false},
	} {
		n := failsAlwaysNote(c.stages)
		if n.Is(FailsAlways) != c.want {
			t.Errorf("%s: %+v", name, n)
		}
		if class := n.String("class"); c.want && class != fault {
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
