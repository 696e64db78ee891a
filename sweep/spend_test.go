package sweep

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

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
