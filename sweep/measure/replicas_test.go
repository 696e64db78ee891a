package measure

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// share returns the metrics of a server with a mean TTFT, within 2 %, and failures.
func share(ttft float64, due, failed int) rundir.ReplicaShare {
	return rundir.ReplicaShare{
		Requests: rundir.Requests{Due: due, Error: failed},
		TTFT:     rundir.Dist{Mean: rundir.Exactly(ttft), CI: map[string][2]float64{"mean": {0.98 * ttft, 1.02 * ttft}}},
	}
}

// TestUnlike names the servers that differ from the others, and no others.
func TestUnlike(t *testing.T) {
	for name, c := range map[string]struct {
		shares []rundir.ReplicaShare
		codes  []string
		at     int
	}{
		"alike":        {[]rundir.ReplicaShare{share(0.1, 100, 0), share(0.11, 100, 1), share(0.1, 100, 0)}, nil, 0},
		"one":          {[]rundir.ReplicaShare{share(0.1, 100, 50)}, nil, 0},
		"slow":         {[]rundir.ReplicaShare{share(0.1, 100, 0), share(0.2, 100, 0)}, []string{"replica.slow"}, 2},
		"fails":        {[]rundir.ReplicaShare{share(0.1, 100, 20), share(0.1, 100, 1)}, []string{"replica.fails"}, 1},
		"few requests": {[]rundir.ReplicaShare{share(0.1, 2, 1), share(0.1, 3, 0)}, nil, 0},
		"no answers": {[]rundir.ReplicaShare{{Requests: rundir.Requests{Due: 50, Error: 50}}, share(0.1, 50, 0)},
			[]string{"replica.fails"}, 1},
	} {
		got := replicaNotes(c.shares)
		if len(got) != len(c.codes) {
			t.Errorf("%s: %v, want %v", name, got, c.codes)
			continue
		}
		for i, n := range got {
			if n.Code != c.codes[i] || n.Args["replica"] != float64(c.at) && n.Args["replica"] != c.at {
				t.Errorf("%s: %v, want %s of replica %d", name, n, c.codes[i], c.at)
			}
		}
	}
}
