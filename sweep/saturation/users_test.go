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
	type rows [3]gauges
	const slots, compute, kv = rundir.LimitSlots, rundir.LimitCompute, rundir.LimitKV
	row := func(users int, g gauges) *rundir.Stage {
		f := rundir.Exactly
		return &rundir.Stage{Kind: rundir.KindOfUsers, State: rundir.Complete, MaxConcurrency: users,
			Sessions: &rundir.Sessions{Lost: f(g.lost), LostMissed: f(g.missed)},
			Server: &rundir.Server{RunningMax: f(g.most), RunningBehind: f(g.behind), WaitingMax: f(2 * g.waiting),
				Waiting: f(g.waiting), KVUsageMax: f(g.kv)}}
	}
	for _, c := range []struct {
		name string
		rows rows // at the number carried, above it, and far above it
		want string
	}{
		{"four slots", rows{{3, 4, 1, 0, 0, 0}, {3.75, 4, 2, 0, 0, 0}, {3.83, 4, 3, 0, 0, 0}}, slots},
		{"eight slots", rows{{6, 8, 2, 0, 0, 0}, {7.06, 8, 2, 0, 0, 0}, {7.9, 8, 9, 0, 0, 0}}, slots},
		{"64 slots", rows{{60, 64, 3, 0, 0, 0}, {63, 64, 20, 0, 0, 0}, {64, 64, 60, 0, 0, 0}}, slots},
		{"most in another row", rows{{35, 44, 7, 0, 0, 0}, {41, 43, 10, 0, 0, 0}, {41.9, 43, 53, 0, 0, 0}}, compute},
		{"more with more users", rows{{28, 42, 7, 0, 0, 0}, {28, 39, 9, 0, 0, 0}, {38.4, 40, 68, 0, 0, 0}}, compute},
		{"fewer at the edge", rows{{20, 35, 2, 0, 0, 0}, {25, 35, 3, 0, 0, 0}, {34.8, 35, 30, 0, 0, 0}}, compute},
		{"nearly as many", rows{{30, 35, 6, 0, 0, 0}, {33.4, 35, 6, 0, 0, 0}, {33.5, 35, 9, 0, 0, 0}}, compute},
		{"lost contexts", rows{{0, 20, 0, 0.07, 0, 0}, {0, 21, 0, 0.1, 0.31, 0}, {0, 28, 0, 0.35, 0, 0}}, kv},
		{"a full cache", rows{{0, 5, 0, 0, 0, 0.7}, {0, 7, 0.4, 0, 0, 0.97}, {6, 8, 5, 0, 0, 1}}, kv},
		{"a full cache once", rows{{0, 5, 0, 0, 0, 0.7}, {0, 6, 0, 0, 0, 0.8}, {6, 8, 0.2, 0, 0, 0.97}}, compute},
	} {
		all := []*rundir.Stage{row(8, c.rows[0]), row(10, c.rows[1]), row(16, c.rows[2])}
		if got := usersLimit(all, all[0], all[1]); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
