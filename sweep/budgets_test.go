package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// A sweep keeps to its budget, and answers with the best bracket of that time, or a guess. The rows of its grid are
// evenly spaced, as many as were asked for: a budget that has no time for some says which were left out.
func TestBudgets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		minutes       float64 // 0 for no budget
		whole         bool    // the budget has time for all rows
		located, held float64 // shares of the servers, and of the answers, at least
	}{{0, true, 0.97, 0.9}, {1, false, 0, 0.9}, {1.5, false, 0, 0.9}, {2, false, 0, 0.9}, {3, false, 0.6, 0.9},
		{5, true, 0.85, 0.9}, {8, true, 0.9, 0.9}, {12, true, 0.97, 0.9}, {20, true, 0.97, 0.9}} {
		if !simtest.Full() && c.minutes != 1 && c.minutes != 5 {
			continue
		}
		const points = 7
		o, budget := &outcome{}, rundir.Duration(60*c.minutes)
		for i := range uint64(simtest.SampleSize(1, 50)) {
			const few = 7 // the seed of a server that few requests saturate
			k := server("wide", few+i)
			run := k.sweep(t, func(c *Config) { c.Budget, c.Points = budget, points })
			name := fmt.Sprintf("%v: %v", budget, k)
			o.add(name, run.Saturation, k.low, k.high, run)
			if took := run.Stages[len(run.Stages)-1].EndsAt(); budget > 0 && took > budget*101/100 {
				t.Errorf("%s: it took %v", name, took)
			}
			if guess := run.Answer.Guess; c.minutes == 1 && (!guess.Known() || guess.Value() > 1.05*k.high) {
				t.Errorf("%s: a guess of %v", name, guess)
			}
			rows := checkGrid(t, name, run, points)
			left := 0.0
			for _, n := range run.Warnings {
				if n.Is(noteOmittedRates) {
					left, _ = n.Number("count")
				}
			}
			if rows+int(left) != points || c.whole && rows != points {
				t.Errorf("%s: %d of %d rates, %v are left out", name, rows, points, left)
			}
		}
		for _, line := range o.lines {
			t.Log(line)
		}
		fmt.Println(o.summary(budget.String()))
		if float64(o.held) < c.held*float64(o.answered) || simtest.Full() &&
			float64(o.answered) < c.located*float64(o.servers) {
			t.Errorf("%v: %d of %d located, %d hold", budget, o.answered, o.servers, o.held)
		}
		simtest.Claim(t, fmt.Sprintf("a sweep with a budget of %v keeps to it", budget), "never more than 1 % over",
			"%d of %d with an answer, known to %.1f %% (median); its interval holds the capacity in %d", o.answered, o.servers,
			quantile(o.widths, 0.5)*100, o.held)
	}
}

// checkGrid returns the number of rows of the grid. Each is measured once, and for as long as two requests take.
func checkGrid(t *testing.T, name string, run *rundir.Run, points float64) int {
	t.Helper()
	low, high, alone := 0.0, 0.0, 0.0
	var rates []float64
	for i := range run.Stages {
		st := &run.Stages[i]
		switch st.Role {
		case rundir.Synchronous:
			low, alone = st.Progress.Rate.Value(), st.Latency.Mean.Value()
		case rundir.Throughput:
			high = st.Progress.Rate.Value()
		case rundir.Grid:
			rates = append(rates, st.Rate.Value())
		}
		if st.Rate.Known() && st.Elapsed < 2*alone {
			t.Errorf("%s: %s lasted %.1f s, and a request alone takes %.1f s", name, st.Name, st.Elapsed, alone)
		}
	}
	for _, rate := range rates {
		step := (rate - low) / (high - low) * points
		if math.Abs(step-math.Round(step)) > 1e-6 || step < 0.5 || step > points+0.5 {
			t.Errorf("%s: %.3f req/s is not on the grid of %.3f to %.3f", name, rate, low, high)
		}
	}
	slices.Sort(rates)
	return len(slices.Compact(rates))
}

// Sweeps of noisy servers keep their budget, waits for an idle server included.
func TestNoisyServersKeepTheBudget(t *testing.T) {
	t.Parallel()
	const overrun = 1.05
	kept, n, worst := 0, simtest.SampleSize(2, 100), 0.0
	for seed := range uint64(n) {
		budget := []time.Duration{30 * time.Second, 100 * time.Second, time.Minute, 4 * time.Minute}[seed%4]
		synctest.Test(t, func(t *testing.T) {
			a := simtest.NewAttacker(seed)
			if a.Sigma = 0.3; seed%2 == 1 {
				a.Hangs = 0.01 // requests that outlive everything
			}
			a.Start()
			c := experimentWith(a, simtest.SameInAll(32, 16))
			c.Budget, c.Seed, c.MaxConcurrency, c.Idle = budget, seed, 512, a.Idle
			began := time.Now()
			if err := Sweep(t.Context(), c, &rundir.Run{}); err != nil {
				t.Fatal(err)
			}
			share := time.Since(began).Seconds() / budget.Seconds()
			if worst = max(worst, share); share <= overrun {
				kept++
			}
		})
	}
	if kept < n-n/100 {
		t.Errorf("%d of %d ended within %v of the budget; the worst took %.3f of it", kept, n, overrun, worst)
	}
	simtest.Claim(t, "a sweep ends within 1.05 of its budget", "99 of 100", "%d of %d, at most %.3f", kept, n, worst)
}

// payer asks a limiter before each request, as the client does, and keeps the server's bill.
type payer struct {
	load.Doer
	limiter *client.SpendLimiter

	mu             sync.Mutex
	prompt, output int64
}

// Prepare makes a body of six bytes for each prompt token.
func (p *payer) Prepare(r *api.Request) (*client.Prepared, error) {
	body := fmt.Appendf(nil, `{"max_tokens":%d,"messages":%q}`, r.OutputTokens, strings.Repeat("token ", r.PromptTokens))
	return &client.Prepared{Request: r, Body: body}, nil
}

func (p *payer) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	reserved := p.limiter.Reserve(call)
	if reserved == nil {
		res.Status, res.Unpaid = client.StatusIncomplete, true
		return
	}
	p.Doer.Do(ctx, call, res)
	p.mu.Lock()
	if res.HTTP == 0 || res.HTTP == 200 {
		p.prompt += int64(call.Request.PromptTokens)
		p.output += int64(max(res.OutputTokens, res.Chunks()))
	}
	p.mu.Unlock()
	reserved.Settle(res)
}

// On random servers with random habits, under closed loops, arrivals and whole sweeps, the server bills no more than
// the limit, and what is reported is not less than the bill. Most of the limit is used; then the run ends and says so,
// and a sweep is complete.
func TestLimitsHoldUnderAnyLoad(t *testing.T) {
	t.Parallel()
	for seed := range uint64(simtest.SampleSize(6, 300)) {
		k := simtest.Random(seed)
		rng := rand.New(rand.NewPCG(seed, 77))
		perRequest := float64(k.Work.Prompt + k.Work.Output)
		limit := int64(perRequest * (100 + 100*rng.Float64()))
		p := &payer{limiter: client.NewSpendLimiter(client.SpendLimits{Cost: float64(limit), PriceIn: 1e6, PriceOut: 1e6})}
		run, ended := &rundir.Run{}, false
		w := simtest.Varied{Fixed: k.Work, Spread: k.Spread, Rng: rng}
		simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
			p.Doer = d
			c := experimentWith(p, w)
			for i := range 25 { // as many as preflight and calibration have counted
				s, _ := w.Next()
				if _, err := load.DoOne(t.Context(), p, c.Log, "before", s, i, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			if seed%3 == 0 {
				if err := Sweep(t.Context(), c, run); err != nil || run.State != rundir.Complete {
					t.Errorf("%v: %s, %v", k, run.State, err)
				}
				ended = slices.ContainsFunc(run.Warnings, func(n note.Note) bool { return n.Code == "run.spent-up" })
				return
			}
			x := fresh(t, c)
			plan := x.Closed("concurrent@32", rundir.Single, 32)
			if seed%3 == 1 {
				plan = x.Poisson(2*k.Work.Capacity(k.Server).RequestsPerSecond, rundir.Single)
			}
			_, err := x.Measure(t.Context(), plan)
			var end *experiment.EndError
			if err != nil && !errors.As(err, &end) {
				t.Errorf("%v: %v", k, err)
			}
			ended = err != nil
		})
		spent := p.limiter.Spent()
		// a token costs 1
		if bill := p.prompt + p.output; bill > limit || spent.Cost < float64(bill) || spent.Cost > float64(limit) {
			t.Errorf("%v: billed %d, reported %v of %d tokens", k, bill, spent.Cost, limit)
		}
		if !spent.Refused || !ended || spent.Cost < 0.7*float64(limit) {
			t.Errorf("%v: ended %t, %+v of %d tokens", k, ended, spent, limit)
		}
	}
}
