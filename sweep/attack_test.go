package sweep

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/slo"
)

// attack measures one load, on a server of which it was shown that it keeps to the length asked for.
func attack(t *testing.T, a *simtest.Attacker, l arrival.Load, sessions int, window time.Duration,
	terms ...string) (st rundir.Stage) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a.Start()
		c := experimentWith(a, simtest.SameInAll(32, 16))
		var err error
		if c.SLO, err = slo.ParseAll(terms); err != nil {
			t.Fatal(err)
		}
		x, err := experiment.Begin(c.Config, &rundir.Run{Workload: rundir.Workload{Forced: true}}, rundir.Plan{})
		if err != nil {
			t.Fatal(err)
		}
		if st, err = x.Measure(t.Context(), experiment.NewStage(l, sessions, window)); err != nil {
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
	if done := st.Rates.Completed.Value(); math.Abs(done/capacity-1) > 0.03 {
		t.Errorf("%.2f req/s done, the truth is %.2f", done, capacity)
	}
	if done := st.Progress.Rate.Value(); math.Abs(done/capacity-1) > 0.03 {
		t.Errorf("%.2f req/s of work done, the truth is %.2f", done, capacity)
	}
	if good := st.Goodput.Rate.Value(); math.Abs(good/capacity-1) > 0.03 {
		t.Errorf("goodput %.2f req/s, the truth is %.2f", good, capacity)
	}
	if s := st.Shortened; !s.Known() || s.Value() > 0.6 || !hasNote(&st, "stage.shortened") {
		t.Errorf("answers are %v of their length, notes %v", s, st.Warnings)
	}
}

// Where answers shrink with load the row says so; where they do not, or were never of a known length, it does not.
func TestShortenedAnswersAreNamed(t *testing.T) {
	t.Parallel()
	a := simtest.NewAttacker(1)
	a.Shrinks = 0.5
	if st := attack(t, a, arrival.Poisson{Rate: 10}, 0, 20*time.Second); !st.Shortened.Known() ||
		st.Verdict != rundir.Stable {
		t.Errorf("answers of %v tokens are %v of their length, verdict %s", st.OutputTokens.Mean, st.Shortened, st.Verdict)
	}
	for _, rate := range []float64{10, 40} {
		if st := attack(t, simtest.NewAttacker(1), arrival.Poisson{Rate: rate}, 0, 20*time.Second); st.Shortened.Known() ||
			st.Errors != nil {
			t.Errorf("at %v: answers are %v of their length, errors %v", rate, st.Shortened, st.Errors)
		}
	}
}

// A run of a number of requests sends them all, whatever the server refuses, also where the first request to end is a
// refusal.
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
			if st := attack(t, a, l, 40, 0); st.OfWholeRun().Requests.Due != 40 || hasNote(&st, "stage.ended-early") {
				t.Errorf("%s, %s: %+v, %v", name, st.Name, st.Requests, st.Warnings)
			}
		}
	}
}

// Requests that hang while others are answered do not show that the server stopped answering, also where they are the
// last to end.
func TestRequestsThatHangAreNotAFrozenServer(t *testing.T) {
	t.Parallel()
	of, wrong := 0, 0
	for seed := range uint64(simtest.SampleSize(10, 200)) {
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
					t.Logf("seed %d, %s, %d requests: frozen since %v of %v s, %+v", seed, st.Name, sessions, st.FrozenSince.Value(),
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
