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
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// frozenStage measures a load for a time on a server that may freeze, and returns the stage and its records.
func frozenStage(t *testing.T, k *simtest.Trial, l arrival.Load, window, drain time.Duration) (st rundir.Stage,
	records []*rundir.Record) {
	t.Helper()
	simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
		c := experimentWith(d, k.Work)
		c.Drain, c.SLO = drain, simtest.Terms("ttft:p90<1h", "itl:p90<1h", "errors<100%")
		st = oneStage(t, c, func(*experiment.Experiment) experiment.Stage { return experiment.NewStage(l, 0, window) })
		records = collect(t, c.Log, st.Name)
	})
	return st, records
}

// The window of a closed loop ends with its last answers, except where the server stopped answering: its silence
// counts.
func TestAFrozenServerIsNamed(t *testing.T) {
	t.Parallel()
	of, missed := 0, 0
	for seed := range uint64(simtest.SampleSize(2, 100)) {
		k := simtest.Random(100 + seed)
		truth := k.Work.Capacity(k.Server)
		// Long enough for a few waves, and the freeze comes in the middle.
		planned := max(20*time.Second, 20*truth.SyncLatency)
		at := planned/2 + time.Duration(seed)*time.Millisecond
		k.Server.Habits.Freezes = at
		for _, l := range []arrival.Load{
			arrival.Closed{Concurrency: 1}, arrival.Closed{Concurrency: 8},
			arrival.Poisson{Rate: max(0.5*truth.RequestsPerSecond, 4/truth.SyncLatency.Seconds())},
		} {
			for _, drain := range []time.Duration{3 * time.Second, time.Minute} {
				st, records := frozenStage(t, k, l, planned, drain)
				end, since := st.WindowFrom+st.Window, at.Seconds()-st.FrozenSince.Value()
				if of++; !st.FrozenSince.Known() || !hasNote(&st, "server.froze") {
					missed++
					t.Errorf("%v: %s, drain %v: not named; window to %.1f s", k, st.Name, drain, end)
					continue
				}
				const rounding = 1e-6
				if since < 0 || since > (2*truth.SyncLatency+8*truth.SyncTTFT).Seconds() || end < planned.Seconds()-rounding ||
					end > 1.1*planned.Seconds() && !st.Rate.Known() { // an open loop may wait for waves
					t.Errorf("%v: %s: frozen %.3f s too early; the window ends at %.2f s, planned were %v", k, st.Name, since, end,
						planned)
				}
				done := 0.0
				for _, r := range records {
					if r.Status == "ok" && measure.WindowOf(&st).Holds(r.End.Value()) {
						done++
					}
				}
				if want := done / st.Window; done > 0 && !st.Rate.Known() && // rates count parts of answers, too
					math.Abs(st.Rates.Completed.Value()-want) > rounding*want {
					t.Errorf("%v: %s: %v req/s, the truth is %.3f", k, st.Name, st.Rates.Completed, want)
				}
				for _, p := range st.Goodput.Terms {
					if p.Verdict != rundir.Missed {
						t.Errorf("%v: %s: %s is %s", k, st.Name, p.Term, p.Verdict)
					}
				}
			}
		}
	}
	simtest.Claim(t, "a server that freezes is named", "in every stage", "in %d of %d", of-missed, of)
}

// Neither a healthy server nor one that pauses is said to have frozen.
func TestPlainServersAreNotFrozen(t *testing.T) {
	t.Parallel()
	of, wrong := 0, 0
	for seed := range uint64(simtest.SampleSize(1, 200)) {
		for _, k := range []*simtest.Trial{simtest.Random(300 + seed), simtest.RandomWith(300+seed, "pauses")} {
			truth := k.Work.Capacity(k.Server)
			for _, l := range []arrival.Load{
				arrival.Closed{Concurrency: 1}, arrival.Closed{Concurrency: 8},
				arrival.Poisson{Rate: 0.7 * truth.RequestsPerSecond}, arrival.Poisson{Rate: 1.5 * truth.RequestsPerSecond},
			} {
				for _, drain := range []time.Duration{time.Millisecond, 3 * time.Second} {
					of++
					if st, _ := frozenStage(t, k, l, max(10*time.Second, 5*truth.SyncLatency), drain); st.FrozenSince.Known() {
						wrong++
						t.Errorf("%v: %s, drain %v: frozen since %v s of %.1f", k, st.Name, drain, st.FrozenSince.Value(), st.Elapsed)
					}
				}
			}
		}
	}
	simtest.Claim(t, "a healthy server, or one that pauses, is said to have frozen", "never", "in %d of %d stages", wrong,
		of)
}

// A stage of a number of requests does not wait until the requests of a frozen server time out.
func TestAFrozenServerEndsACountedStage(t *testing.T) {
	t.Parallel()
	server := demo(t)
	server.Habits.Freezes = 5 * time.Second
	st := &runStages(t, server, demoWork, func(c *Config) { c.Drain = 3 * time.Second },
		experiment.NewStage(arrival.Closed{Concurrency: 4}, 100_000, 0)).Stages[0]
	if st.Elapsed > 75 || !hasNote(st, "stage.gave-up") || !st.FrozenSince.Known() {
		t.Errorf("it took %v: %v", st.Elapsed, st.Warnings)
	}
}

// Requests that hang while others are answered do not show that the server stopped answering, also where they are the
// last to end.
func TestRequestsThatHangAreNotAFrozenServer(t *testing.T) {
	t.Parallel()
	of, wrong := 0, 0
	for seed := range uint64(simtest.SampleSize(5, 200)) {
		for _, l := range []arrival.Load{arrival.Closed{Concurrency: 4}, arrival.Closed{Concurrency: 1},
			arrival.Poisson{Rate: 10}} {
			for _, sessions := range []int{300, 0} {
				if sessions == 0 && l.Limit() == 1 {
					continue // a loop of one stands still: nothing tells a request that hangs from a server that does
				}
				a := simtest.NewAttacker(seed)
				a.Hangs = 0.01
				st := attack(t, a, l, sessions, 30*time.Second, "ttft:p90<300ms", "errors<5%")
				of++
				if st.FrozenSince.Known() {
					wrong++
					t.Logf("seed %d, %s, %d requests: frozen since %v of %v s, %+v", seed, st.Name, sessions, st.FrozenSince,
						st.Elapsed, st.Requests)
				} else if st.Goodput.Verdict == rundir.Missed {
					t.Errorf("seed %d, %s, %d requests: the SLO is broken: %+v", seed, st.Name, sessions, st.Goodput.Terms)
				}
			}
		}
	}
	if wrong > of/50 {
		t.Errorf("%d of %d stages are said to be frozen", wrong, of)
	}
	simtest.Claim(t, "requests that hang are no frozen server", "at least 98 % of stages", "in %d of %d", of-wrong, of)
}

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
		c.SLO = simtest.Terms(slo...)
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
