package experiment_test

import (
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/workload"
)

// ofTokens returns a limit of tokens: each costs 1.
func ofTokens(n float64) *client.SpendLimits {
	return &client.SpendLimits{Cost: n, PriceIn: 1e6, PriceOut: 1e6}
}

func lengths(n float64) rundir.Lengths { return rundir.Lengths{Mean: n} }

// plan returns a plan whose requests have 100 prompt and 20 output tokens, or are conversations of 3 turns.
func plan(turns int, stages ...experiment.Stage) *experiment.SpendPlan {
	var sources func(string) load.Source = workload.NewSynthetic(lengths(100), lengths(20), 1, workload.Guess).Stage
	if turns > 1 {
		talk := workload.Talk{Turns: lengths(float64(turns)), First: lengths(100), Later: lengths(10), Output: lengths(20)}
		sources = workload.NewConversations(talk, 1, workload.Guess).Stage
	}
	return &experiment.SpendPlan{Stages: stages, Seed: 7, Sources: sources, Count: func(s string) int { return len(s) }}
}

func TestReckon(t *testing.T) {
	closed := experiment.NewStage(arrival.Closed{Concurrency: 4}, 50, 0)
	timed := experiment.NewStage(arrival.Closed{Concurrency: 4}, 0, 10*time.Second)
	constant := experiment.NewStage(arrival.Constant{Rate: 5}, 0, 10*time.Second)
	// with changes a plan of requests.
	with := func(change func(p *experiment.SpendPlan), stages ...experiment.Stage) *experiment.SpendPlan {
		p := plan(1, stages...)
		change(p)
		return p
	}
	spent := func(requests, warmup int, prompt, output int64) experiment.MostSpent {
		return experiment.MostSpent{Requests: requests, Warmup: warmup,
			SpendTokens: experiment.SpendTokens{Prompt: prompt, Output: output}}
	}
	type planned = *experiment.SpendPlan
	for name, tt := range map[string]struct {
		plan planned
		want experiment.MostSpent
	}{
		"a number of requests":    {plan(1, closed), spent(50, 0, 5000, 1000)},
		"conversations":           {plan(3, closed), spent(150, 0, 50*(100+130+160), 3000)},
		"a warm-up":               {with(func(p planned) { p.Warmup.Auto = true }, closed), spent(50, 30, 8000, 1600)},
		"a time":                  {plan(1, timed), experiment.MostSpent{Unbounded: "concurrent@4"}},
		"a time, capped":          {with(func(p planned) { p.Caps = load.NewCaps(2, 0) }, timed), spent(41, 0, 4100, 820)},
		"arrivals, tail included": {plan(1, constant), spent(101, 0, 10100, 2020)},
		"a sweep":                 {plan(1), experiment.MostSpent{Unbounded: "sweep"}},
		"a sweep, its tokens capped": {with(func(p planned) { // 6000 a minute and 1000 at once
			p.Caps, p.Longest = load.NewCaps(0, 6000), time.Minute
		}), spent(59, 0, 5900, 1180)},
		"a time, limited": {with(func(p planned) {
			p.Limits, p.Before = ofTokens(12_000), experiment.SpendTokens{Prompt: 500, Output: 24}
		}, closed, timed), spent(95, 0, 500+9500, 24+1900)},
		"a sweep, its cost limited": {with(func(p planned) {
			p.Limits = &client.SpendLimits{Cost: 0.01, PriceIn: 1, PriceOut: 10}
		}), spent(33, 0, 3300, 660)},
		"a sweep with a large limit": {with(func(p planned) { p.Limits = ofTokens(1_200_000_000) }),
			spent(10_000_000, 0, 1_000_000_000, 200_000_000)},
		"a limit below a number of requests": {with(func(p planned) { p.Limits = ofTokens(1200) }, closed),
			spent(10, 0, 1000, 200)},
		"a sweep, capped": {with(func(p planned) { p.Caps, p.Longest = load.NewCaps(3, 0), time.Minute }),
			spent(181, 0, 18100, 3620)},
	} {
		if got := experiment.Reckon(tt.plan); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
