package saturation

import (
	"testing"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// TestTheEdgeIsToldFromARowThatKeepsTheTerm has a row at the number of users that misses the term by chance: the row
// that the answer cites keeps it, and the answer is marked as scattered.
func TestTheEdgeIsToldFromARowThatKeepsTheTerm(t *testing.T) {
	term, err := slo.Parse("ttft:p95<300ms")
	if err != nil {
		t.Fatal(err)
	}
	row := func(users int, p95 float64) *rundir.Stage {
		return &rundir.Stage{Kind: rundir.KindOfUsers, State: rundir.Complete, MaxConcurrency: users,
			TTFT: rundir.Dist{N: 1000, P95: rundir.Exactly(p95)}}
	}
	for _, c := range []struct {
		at11      float64
		within    int
		scattered bool
	}{{0.311, 9, true}, {0.289, 11, false}} {
		edge := &rundir.UserCapacity{Users: rundir.Exactly(11), Term: term.String(), Verdict: rundir.Met}
		describeLimit(edge, []*rundir.Stage{row(9, 0.2), row(11, c.at11), row(32, 1.1)}, []slo.Term{term})
		if edge.Within == nil || edge.Within.Users != c.within || edge.Scattered != c.scattered || edge.Beyond.Users != 32 {
			t.Errorf("with %v s at 11 users: within %+v, scattered %v, beyond %+v", c.at11, edge.Within, edge.Scattered,
				edge.Beyond)
		}
	}
}

// TestSlotsAndComputingAreToldApart has rows of servers whose requests wait. Where slots are what runs out, as many run
// as ever do in the rows above the number carried; where they wait for tokens of a step, fewer run than at other times.
// Rows are those of simulated servers.
func TestSlotsAndComputingAreToldApart(t *testing.T) {
	type gauges struct{ behind, most, waiting, lost, missed, kv float64 }
	row := func(users int, g gauges) *rundir.Stage {
		f := rundir.Exactly
		return &rundir.Stage{Kind: rundir.KindOfUsers, State: rundir.Complete, MaxConcurrency: users,
			Sessions: &rundir.Sessions{Lost: f(g.lost), LostMissed: f(g.missed)},
			Server: &rundir.Server{RunningMax: f(g.most), RunningBehind: f(g.behind), WaitingMax: f(2 * g.waiting),
				Waiting: f(g.waiting), KVUsageMax: f(g.kv)}}
	}
	for _, c := range []struct {
		name               string
		within, above, far gauges
		want               string
	}{
		{"four slots", gauges{behind: 3, most: 4, waiting: 1}, gauges{behind: 3.75, most: 4, waiting: 2},
			gauges{behind: 3.83, most: 4, waiting: 3}, rundir.LimitSlots},
		{"eight slots", gauges{behind: 6, most: 8, waiting: 2}, gauges{behind: 7.06, most: 8, waiting: 2},
			gauges{behind: 7.9, most: 8, waiting: 9}, rundir.LimitSlots},
		{"64 slots", gauges{behind: 60, most: 64, waiting: 3}, gauges{behind: 63, most: 64, waiting: 20},
			gauges{behind: 64, most: 64, waiting: 60}, rundir.LimitSlots},
		{"most in another row", gauges{behind: 35, most: 44, waiting: 7}, gauges{behind: 41, most: 43, waiting: 10},
			gauges{behind: 41.9, most: 43, waiting: 53}, rundir.LimitCompute},
		{"more with more users", gauges{behind: 28, most: 42, waiting: 7}, gauges{behind: 28, most: 39, waiting: 9},
			gauges{behind: 38.4, most: 40, waiting: 68}, rundir.LimitCompute},
		{"fewer at the edge", gauges{behind: 20, most: 35, waiting: 2}, gauges{behind: 25, most: 35, waiting: 3},
			gauges{behind: 34.8, most: 35, waiting: 30}, rundir.LimitCompute},
		{"nearly as many", gauges{behind: 30, most: 35, waiting: 6}, gauges{behind: 33.4, most: 35, waiting: 6},
			gauges{behind: 33.5, most: 35, waiting: 9}, rundir.LimitCompute},
		{"lost contexts", gauges{most: 20, lost: 0.07}, gauges{most: 21, lost: 0.1, missed: 0.31},
			gauges{most: 28, lost: 0.35}, rundir.LimitKV},
		{"a full cache", gauges{most: 5, kv: 0.7}, gauges{most: 7, waiting: 0.4, kv: 0.97},
			gauges{behind: 6, most: 8, waiting: 5, kv: 1}, rundir.LimitKV},
		{"a full cache once", gauges{most: 5, kv: 0.7}, gauges{most: 6, kv: 0.8}, gauges{behind: 6, most: 8, waiting: 0.2,
			kv: 0.97}, rundir.LimitCompute},
	} {
		rows := []*rundir.Stage{row(8, c.within), row(10, c.above), row(16, c.far)}
		if got := usersLimit(rows, rows[0], rows[1]); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
