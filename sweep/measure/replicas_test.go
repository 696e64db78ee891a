package measure

import (
	"fmt"
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

// The servers that differ from the others are named, and no others.
func TestUnlikeReplicas(t *testing.T) {
	mute := rundir.ReplicaShare{Requests: rundir.Requests{Due: 50, Error: 50}}
	for _, c := range []struct {
		name   string
		shares []rundir.ReplicaShare
		want   string // the notes, each with its server
	}{
		{"one", []rundir.ReplicaShare{share(1, 100, 50)}, "[]"},
		{"less than a fifth slower", []rundir.ReplicaShare{share(1, 99, 0), share(1.19, 99, 0)}, "[]"},
		{"a fifth slower", []rundir.ReplicaShare{share(1, 99, 0), share(1.21, 99, 0)}, "[replica.slow 2]"},
		{"bounds of 97.5 % meet", []rundir.ReplicaShare{share(1, 1000, 141), share(1, 1000, 100)}, "[]"},
		{"they do not", []rundir.ReplicaShare{share(1, 1000, 142), share(1, 1000, 100)}, "[replica.fails 1]"},
		{"few requests", []rundir.ReplicaShare{share(1, 2, 1), share(1, 3, 0)}, "[]"},
		{"no answers", []rundir.ReplicaShare{mute, share(1, 50, 0)}, "[replica.fails 1]"},
	} {
		var got []string
		for _, n := range replicaNotes(c.shares) {
			got = append(got, fmt.Sprint(n.Code, " ", n.Args["replica"]))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
