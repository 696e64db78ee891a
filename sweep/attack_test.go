package sweep

import (
	"context"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/slo"
)

// attacker is a server of 8 slots, first in first out, 50 ms to the first token and 20 ms from each to the next, with habits that no engine has.
// 16 tokens take 0.35 s: it does 22.86 of them a second.
type attacker struct {
	sigma   float64            // of the logarithm of service times, whose mean is kept
	hangs   float64            // this share of requests is never answered
	patient time.Duration      // after so long in the queue: one token, finish reason "stop"; 0 for however long
	shrinks float64            // answers have n/(1 + shrinks x requests per slot) tokens
	refuses func(seq int) bool // with 429, by the number of the request; nil for none

	slots    chan struct{}
	mu       sync.Mutex
	rng      *rand.Rand
	n        int
	inFlight int
}

const attackSlots = 8

func newAttacker(seed uint64) *attacker {
	return &attacker{rng: rand.New(rand.NewPCG(seed, 25))}
}

func (*attacker) Prepare(r *api.Request) (*client.Prepared, error) {
	return &client.Prepared{Request: r}, nil
}

// draw returns what happens to the next request.
func (a *attacker) draw(asked int) (tokens int, scale float64, hangs, refused bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inFlight++
	tokens = max(1, int(float64(asked)/(1+a.shrinks*float64(a.inFlight-1)/attackSlots)))
	scale = math.Exp(a.sigma*a.rng.NormFloat64() - a.sigma*a.sigma/2)
	const warm = 12
	hangs = a.n > warm && a.rng.Float64() < a.hangs
	refused = a.refuses != nil && a.refuses(a.n)
	a.n++
	return tokens, scale, hangs, refused
}

func (a *attacker) Do(ctx context.Context, p *client.Prepared, res *client.Result) {
	now := func() time.Duration { return time.Since(res.Epoch) }
	res.Sent = now()
	tokens, scale, hangs, refused := a.draw(p.Request.OutputTokens)
	defer func() { a.mu.Lock(); a.inFlight--; a.mu.Unlock() }()
	if refused {
		res.HTTP, res.Headers = http.StatusTooManyRequests, now()
		res.Fail(now(), client.ClassHTTP429, "HTTP 429")
		return
	}
	gone := func() bool {
		if ctx.Err() != nil {
			res.Status, res.End = client.StatusIncomplete, now()
		}
		return ctx.Err() != nil
	}
	sleep := func(d time.Duration) bool {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return !gone()
	}
	res.HTTP, res.Headers, res.Finish = http.StatusOK, now(), "length"
	if hangs {
		<-ctx.Done()
		gone()
		return
	}
	impatient := make(<-chan time.Time)
	if a.patient > 0 {
		impatient = time.After(a.patient)
	}
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-impatient:
		tokens, scale, res.Finish = 1, 0, "stop"
	case <-ctx.Done():
		gone()
		return
	}
	if !sleep(time.Duration(scale * float64(50*time.Millisecond))) {
		return
	}
	res.Token(now(), 1, false)
	for range tokens - 1 {
		if !sleep(time.Duration(scale * float64(20*time.Millisecond))) {
			return
		}
		res.Token(now(), 1, false)
	}
	res.PromptTokens, res.OutputTokens, res.TokenSource = p.Request.PromptTokens, tokens, client.SourceServer
	res.End, res.Status = now(), client.StatusOK
}

// attack measures one load, on a server of which it was shown that it keeps to the length asked for.
func attack(t *testing.T, a *attacker, l arrival.Load, sessions int, window time.Duration, terms ...string) (st rundir.Stage) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a.slots = make(chan struct{}, attackSlots) // of this bubble
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
	a := newAttacker(1)
	a.patient = 500 * time.Millisecond
	st := attack(t, a, arrival.Poisson{Rate: 60}, 0, 20*time.Second, "latency:p99<1s", "errors<1%")
	if st.Verdict != rundir.Shedding || st.Goodput.Verdict != rundir.Broken {
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
	a := newAttacker(1)
	a.shrinks = 0.5
	if st := attack(t, a, arrival.Poisson{Rate: 10}, 0, 20*time.Second); !st.Shortened.Known() || st.Verdict != rundir.Stable {
		t.Errorf("answers of %v tokens are %v of their length, verdict %s", st.OutputTokens.Mean, st.Shortened, st.Verdict)
	}
	for _, rate := range []float64{10, 40} {
		if st := attack(t, newAttacker(1), arrival.Poisson{Rate: rate}, 0, 20*time.Second); st.Shortened.Known() || st.Errors != nil {
			t.Errorf("at %v: answers are %v of their length, errors %v", rate, st.Shortened, st.Errors)
		}
	}
}

// A run of a number of requests sends them all, whatever the server refuses, also where the first request to end is a refusal.
func TestRequestsAreSentThoughTheFirstIsRefused(t *testing.T) {
	t.Parallel()
	for name, refuses := range map[string]func(int) bool{
		"every fifth": func(n int) bool { return n%5 == 0 },
		"all":         func(int) bool { return true },
		"first ten":   func(n int) bool { return n < 10 },
	} {
		for _, l := range []arrival.Load{arrival.Closed{Concurrency: 4}, arrival.Poisson{Rate: 10}} {
			a := newAttacker(1)
			a.refuses = refuses
			if st := attack(t, a, l, 40, 0); st.Requests.Due != 40 || hasNote(&st, "stage.ended-early") {
				t.Errorf("%s, %s: %+v, %v", name, st.Name, st.Requests, st.Warnings)
			}
		}
	}
}

// Requests that hang while others are answered do not show that the server stopped answering, also where they are the last to end.
func TestRequestsThatHangAreNotAFrozenServer(t *testing.T) {
	t.Parallel()
	of, wrong := 0, 0
	for seed := range uint64(simtest.SampleSize(20, 200)) {
		for _, l := range []arrival.Load{arrival.Closed{Concurrency: 4}, arrival.Closed{Concurrency: 1}, arrival.Poisson{Rate: 10}} {
			for _, sessions := range []int{300, 0} {
				if sessions == 0 && l.Limit() == 1 {
					continue // a loop of one stands still: nothing tells a request that hangs from a server that does
				}
				a := newAttacker(seed)
				a.hangs = 0.01
				st := attack(t, a, l, sessions, 30*time.Second, "ttft:p90<300ms", "errors<5%")
				of++
				if st.FrozenSince.Known() {
					wrong++
					t.Logf("seed %d, %s, %d requests: frozen since %v of %v s, %+v", seed, st.Name, sessions, st.FrozenSince.Value(), st.Elapsed, st.Requests)
				} else if st.Goodput.Verdict == rundir.Broken {
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
