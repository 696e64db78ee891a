package saturation

import (
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
			spoiled(&rundir.Stage{Verdict: rundir.Undecided, Requests: rundir.Requests{OK: 949, Error: 51}}),
			spoiled(&rundir.Stage{Verdict: rundir.Undecided, Requests: rundir.Requests{OK: 951, Error: 49}}),
		},
		"means beyond 0.9 of the saturation rate":       {!keepsInterval("mean", 0.91), !keepsInterval("mean", 0.89)},
		"percentiles beyond 0.8 of the saturation rate": {!keepsInterval("p90", 0.81), !keepsInterval("p90", 0.79)},
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

// keepsInterval reports whether the interval of a figure is kept at a share of the saturation rate.
func keepsInterval(figure string, share float64) bool {
	st := &rundir.Stage{TTFT: rundir.Dist{CI: map[string][2]float64{figure: {}}}}
	DropIntervals(st, share)
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
