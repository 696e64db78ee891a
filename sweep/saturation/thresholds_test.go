package saturation

import (
	"math"
	"testing"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// Each rule holds at its threshold, or just beyond it, and not on the other side.
func TestThresholds(t *testing.T) {
	f := rundir.Exactly
	done := func(role rundir.Role, ok, failed int, class client.Class) rundir.Stage {
		return rundir.Stage{Role: role, State: rundir.Complete, Verdict: rundir.Stable,
			Requests: rundir.Requests{OK: ok, Error: failed}, Errors: map[string]int{string(class): failed}}
	}
	traits := func(ok int, traits rundir.Traits) []rundir.Stage {
		st := done(rundir.Grid, ok, 0, "")
		st.Traits = traits
		return []rundir.Stage{st}
	}
	users := func(n int, output, hits float64) *rundir.Stage {
		return &rundir.Stage{MaxConcurrency: n, TokensPerS: rundir.TokenRates{Output: f(output)},
			Sessions: &rundir.Sessions{Hits: f(hits)}}
	}
	carries := func(rows ...*rundir.Stage) float64 {
		c := &rundir.UserCapacity{}
		fillByOutput(c, rows)
		return c.Users.Value()
	}
	bursts := func(share float64) bool {
		return burstsNote(traits(100, rundir.Traits{Bursts: f(share), Burst: f(8), BurstGap: f(1)})).Is(noteBatches)
	}
	pauses := func(n int) bool {
		return pausesNote(traits(9, rundir.Traits{Stalls: n, StallTime: f(1)})).Is(notePauses)
	}
	cached := func(of int, share float64) bool {
		return cachesNote(traits(of, rundir.Traits{Whole: f(share), WholeTime: f(1)})).Is(noteCaches)
	}
	dropped := func(ok, failed int) bool {
		return dropsNote([]rundir.Stage{done(rundir.Grid, ok, failed, client.ClassReset)}).Is(noteDrops)
	}
	fails := func(okAlone, failedAlone, ok, failed int) bool {
		return failsAlwaysNote([]rundir.Stage{done(rundir.Synchronous, okAlone, failedAlone, "http_5xx"),
			done(rundir.Grid, ok, failed, "http_5xx")}).Is(FailsAlways)
	}
	slots := func(running, most, waiting float64) bool {
		return limitByGauges(&rundir.Server{Running: f(running), RunningMax: f(most), Waiting: f(waiting)}) ==
			rundir.LimitSlots
	}
	for name, c := range map[string][2]bool{ // holds just on this side, does not just on the other
		"three pauses":       {pauses(3), pauses(2)},
		"two failures alone": {fails(198, 2, 80, 20), fails(98, 1, 80, 20)},
		"2 % fail":           {fails(80, 20, 979, 21), fails(80, 20, 981, 19)},
		"half in bursts":     {bursts(0.51), bursts(0.49)},
		"five from a cache":  {cached(100, 0.05), cached(100, 0.04)},
		"2 % from a cache":   {cached(1000, 0.021), cached(1000, 0.019)},
		"five dropped":       {dropped(95, 5), dropped(96, 4)},
		"1 % dropped":        {dropped(989, 11), dropped(991, 9)},
		"one waits":          {slots(9, 9, 1), slots(9, 9, 0.9)},
		"a full batch":       {slots(9.6, 10, 5), slots(9.4, 10, 5)},
		"more users bring no more": {
			carries(users(4, 95.5, 0), users(8, 100, 0)) == 4,
			carries(users(4, 94.5, 0), users(8, 100, 0)) == 4,
		},
		"hits fall by a tenth": {
			carries(users(4, 90, 0.8), users(8, 100, 0.69)) == 4,
			carries(users(4, 90, 0.8), users(8, 100, 0.71)) == 4,
		},
		"a session loses a tenth": {
			usersLimit([]*rundir.Stage{lost(0)}, nil, lost(0.11)) == rundir.LimitKV,
			usersLimit([]*rundir.Stage{lost(0)}, nil, lost(0.09)) == rundir.LimitKV,
		},
		"slots, of ten: 0.97 run": {
			usersLimit(waiting(10, 9.71)) == rundir.LimitSlots, usersLimit(waiting(10, 9.69)) == rundir.LimitSlots,
		},
		"slots, of four: all but a quarter of one run": {
			usersLimit(waiting(4, 3.76)) == rundir.LimitSlots, usersLimit(waiting(4, 3.74)) == rundir.LimitSlots,
		},
		"as much output with 0.6 of the batch":     {halfFull(0.59), halfFull(0.61)},
		"a proof as long as nine tenths of a hold": {proven(t, 136), proven(t, 134)},
		"answers shortened by the tolerance": {
			shortens(&rundir.Stage{Shortened: f(0.95)}), shortens(&rundir.Stage{Shortened: f(0.955)}),
		},
		"5 % failed otherwise than by refusal": {
			faulty(&rundir.Stage{Verdict: rundir.Undecided, Requests: rundir.Requests{OK: 949, Error: 51}}),
			faulty(&rundir.Stage{Verdict: rundir.Undecided, Requests: rundir.Requests{OK: 951, Error: 49}}),
		},
		"means beyond 0.9 of the saturation rate":       {!keepsInterval("mean", 0.91, 9e9), !keepsInterval("mean", 0.89, 9e9)},
		"means of fewer than 14 swings of the queue":    {!keepsInterval("mean", 0.8, 279), !keepsInterval("mean", 0.8, 281)},
		"means at an unknown share of the rate":         {!keepsInterval("mean", math.NaN(), 27), !keepsInterval("mean", math.NaN(), 28)},
		"percentiles beyond 0.8 of the saturation rate": {!keepsInterval("p90", 0.81, 0), !keepsInterval("p90", 0.79, 0)},
		"a quota nine tenths of the refusals name":      {named(0.91), named(0.89)},
		"a quota a tenth from the answer":               {quotaAt(0.91), quotaAt(0.89)},
	} {
		if !c[0] || c[1] {
			t.Errorf("%s: %v on this side, %v on the other", name, c[0], c[1])
		}
	}
	run := &rundir.Run{Saturation: &rundir.Saturation{}}
	for i := range mostCautions + 2 {
		run.Saturation.Cautions = append(run.Saturation.Cautions, noteChanged.New(float64(i), 0., 0., 0.))
	}
	if n := len(topCautions(run)); n != 3 {
		t.Errorf("%d cautions", n)
	}
}

// keepsInterval reports whether the interval of a figure of n values is kept at a share of the saturation rate.
func keepsInterval(figure string, share float64, n int) bool {
	st := &rundir.Stage{TTFT: rundir.Dist{N: n, CI: map[string][2]float64{figure: {}}}}
	DropIntervals(st, share, 0)
	return len(st.TTFT.CI) == 1
}

// named reports whether a quota without a period is found where a share of the refusals names it.
func named(share float64) bool {
	st := shedding(10, 0.5)
	st.Traits.Quota.Named = rundir.Exactly(share)
	return quotaOf(runOf(st), &rundir.Saturation{High: rundir.Exactly(5), FailedStage: st.Name}) != nil
}

// quotaAt reports whether a quota is found whose rate is a share of the lower end of the answer.
func quotaAt(share float64) bool {
	st := shedding(10, 0.5)
	st.Traits.Quota = rundir.Quota{Period: rundir.Exactly(60), Requests: rundir.Exactly(60 * 5 * share), Periods: 3}
	return quotaOf(runOf(st), &rundir.Saturation{Low: rundir.Exactly(5), High: rundir.Exactly(5)}) != nil
}

// lost is a row of users whose sessions have lost a share of their earlier prompts.
func lost(share float64) *rundir.Stage {
	return &rundir.Stage{Sessions: &rundir.Sessions{Lost: rundir.Exactly(share)}}
}

// waiting is rows of a server with slots of which a number run on average while requests wait.
func waiting(slots, running float64) (rows []*rundir.Stage, within, above *rundir.Stage) {
	f := rundir.Exactly
	st := &rundir.Stage{Server: &rundir.Server{RunningMax: f(slots), RunningBehind: f(running), Waiting: f(5),
		WaitingMax: f(9)}}
	return []*rundir.Stage{st}, nil, st
}

// halfFull reports whether a stage with a share of the requests that run at most, and all of the output, is found.
func halfFull(share float64) bool {
	f := rundir.Exactly
	at := &rundir.Stage{Server: &rundir.Server{RunningMax: f(100)}, TokensPerS: rundir.TokenRates{Output: f(1000)}}
	st := rundir.Stage{TokensPerS: at.TokensPerS}
	st.Concurrency.Mean = f(100 * share)
	return flatStage(runOf(st), at) != nil
}

// proven reports whether a hold of some seconds proves an SLO; 150 s is usual.
func proven(t *testing.T, seconds float64) bool {
	term, err := slo.Parse("ttft:p95<300ms")
	if err != nil {
		t.Fatal(err)
	}
	st := stable(10)
	st.Window, st.TTFT = seconds, rundir.Dist{N: 1000, P95: rundir.Exactly(0.2)}
	return sloProof(runOf(st), &rundir.SLO{Rate: rundir.Exactly(10)}, []slo.Term{term}) != nil
}

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
