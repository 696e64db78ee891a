package sweep

import (
	"context"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// attack measures one load, on a server of which it was shown that it keeps to the length asked for.
func attack(t *testing.T, a *simtest.Attacker, l arrival.Load, sessions int, window time.Duration,
	slo ...string) rundir.Stage {
	t.Helper()
	return stageOf(t, func() load.Doer { a.Start(); return a }, simtest.SameInAll(32, 16),
		experiment.NewStage(l, sessions, window), slo...)
}

// stageOf measures one stage on a server that is made in virtual time.
func stageOf(t *testing.T, server func() load.Doer, w load.Source, s experiment.Stage,
	slo ...string) (st rundir.Stage) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := experimentWith(server(), w)
		c.SLO = simtest.Terms(t, slo...)
		x, err := experiment.Begin(c.Config, &rundir.Run{Workload: rundir.Workload{Forced: true}}, rundir.Plan{})
		if err != nil {
			t.Fatal(err)
		}
		if st, err = x.Measure(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	})
	return st
}

// A server that ends answers early when it has too much to do sheds load: what counts is complete answers.
func TestStubsAreNoAnswers(t *testing.T) {
	t.Parallel()
	const capacity = 22.86
	a := simtest.NewAttacker(1)
	a.Patient = 500 * time.Millisecond
	st := attack(t, a, arrival.Poisson{Rate: 60}, 0, 20*time.Second, "latency:p99<1s", "errors<1%")
	if st.Verdict != rundir.Shedding || st.Goodput.Verdict != rundir.Missed {
		t.Errorf("verdict %s, SLO %s", st.Verdict, st.Goodput.Verdict)
	}
	for what, rate := range map[string]rundir.Number{"req/s": st.Rates.Completed, "req/s of work": st.Progress.Rate,
		"req/s within the SLO": st.Goodput.Rate} {
		if math.Abs(rate.Value()/capacity-1) > 0.03 {
			t.Errorf("%v %s done, the truth is %.2f", rate, what, capacity)
		}
	}
	if s := st.Shortened; !s.Known() || s.Value() > 0.6 || !hasNote(&st, "stage.shortened") {
		t.Errorf("answers are %v of their length, notes %v", s, st.Warnings)
	}
}

// Where answers shrink with load the row says so; where they do not, it does not.
func TestShortenedAnswersAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ shrinks, rate float64 }{{0.5, 10}, {0, 10}, {0, 40}} {
		a := simtest.NewAttacker(1)
		a.Shrinks = c.shrinks
		st := attack(t, a, arrival.Poisson{Rate: c.rate}, 0, 20*time.Second)
		if named := st.Shortened.Known(); named != (c.shrinks > 0) || named && st.Verdict != rundir.Stable ||
			st.Errors != nil {
			t.Errorf("%+v: answers are %v of their length, verdict %s, errors %v", c, st.Shortened, st.Verdict, st.Errors)
		}
	}
}

// A run of a number of requests sends them all, whatever the server refuses, also where the first request to end is a
// refusal. One for a time ends where all are refused.
func TestRequestsAreSentThoughTheFirstIsRefused(t *testing.T) {
	t.Parallel()
	for name, refuses := range map[string]func(int) bool{
		"every fifth": func(n int) bool { return n%5 == 0 },
		"all":         func(int) bool { return true },
		"first ten":   func(n int) bool { return n < 10 },
	} {
		for _, l := range []arrival.Load{arrival.Closed{Concurrency: 4}, arrival.Poisson{Rate: 10}} {
			a := simtest.NewAttacker(1)
			a.Refuses = refuses
			if name == "all" {
				if st := attack(t, a, l, 0, 2*time.Minute); !hasNote(&st, "stage.ended-early") {
					t.Errorf("%s: it went on for %v s", st.Name, st.Elapsed)
				}
			}
			if st := attack(t, a, l, 40, 0); st.OfWholeRun().Requests.Due != 40 || hasNote(&st, "stage.ended-early") {
				t.Errorf("%s, %s: %+v, %v", name, st.Name, st.Requests, st.Warnings)
			}
		}
	}
}

// A token that is sent before the queue makes TTFT say nothing of the wait.
func TestAnEarlyTokenIsNamed(t *testing.T) {
	t.Parallel()
	for _, leads := range []bool{true, false} {
		a := simtest.NewAttacker(1)
		a.Leads = leads
		st := attack(t, a, arrival.Closed{Concurrency: 16}, 0, 20*time.Second)
		if hasNote(&st, "stage.early-token") != leads {
			t.Errorf("a token before the queue %v: TTFT %v s, ITL %v s, notes %v", leads, st.TTFT.P50, st.ITL.P50, st.Warnings)
		}
	}
}

// muteServer answers well, and without a token in all but some of its answers.
type muteServer struct {
	simtest.Unencoded
	n     *atomic.Int64
	every int64 // one in so many has a token; 0 for none
}

func (m muteServer) Do(ctx context.Context, _ *client.Prepared, res *client.Result) {
	res.Sent = time.Since(res.Epoch)
	rest(ctx, 0.02)
	if n := m.n.Add(1); m.every > 0 && n%m.every == 0 {
		complete(res, 1, 1)
		return
	}
	now := time.Since(res.Epoch)
	res.Headers, res.End, res.Status = now, now, client.StatusOK
}

// An answer without a token is a failure: nothing was generated.
func TestAnswersWithoutTokensFail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		every int64
		load  arrival.Load
	}{"none, closed": {0, arrival.Closed{Concurrency: 4}}, "none, open": {0, arrival.Poisson{Rate: 20}},
		"one in two": {2, arrival.Closed{Concurrency: 4}}} {
		server := func() load.Doer { return muteServer{n: new(atomic.Int64), every: c.every} }
		st := stageOf(t, server, simtest.SameInAll(8, 1), experiment.NewStage(c.load, 0, 10*time.Second), "errors<5%")
		if st.Errors[string(client.ClassEmpty)] == 0 || st.Goodput.Verdict != rundir.Missed {
			t.Errorf("%s: errors %v, SLO %s", name, st.Errors, st.Goodput.Verdict)
		}
		if ok := st.Requests.OK > 0; ok != (c.every > 0) || ok != st.Rates.Completed.Known() {
			t.Errorf("%s: %+v, %v req/s", name, st.Requests, st.Rates.Completed)
		}
	}
}
