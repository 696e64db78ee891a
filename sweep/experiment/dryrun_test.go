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
	capped := plan(1, timed)
	capped.Caps = load.NewCaps(2, 0)
	warm := plan(1, closed)
	warm.Warmup = experiment.Warmup{Auto: true}
	metered := plan(1)
	metered.Caps, metered.Longest = load.NewCaps(0, 6000), time.Minute
	limited := plan(1, closed, timed)
	limited.Limits, limited.Before = ofTokens(12_000), experiment.SpendTokens{500, 24}
	priced := plan(1)
	priced.Limits = &client.SpendLimits{Cost: 0.01, PriceIn: 1, PriceOut: 10}
	large := plan(1)
	large.Limits = ofTokens(1_200_000_000)
	early := plan(1, closed)
	early.Limits = ofTokens(1200)
	sweeps := plan(1)
	sweeps.Caps, sweeps.Longest = load.NewCaps(3, 0), time.Minute
	for name, tt := range map[string]struct {
		plan *experiment.SpendPlan
		want experiment.MostSpent
	}{
		"a number of requests": {plan(1, closed), experiment.MostSpent{Requests: 50,
			SpendTokens: experiment.SpendTokens{5000, 1000}}},
		"conversations": {plan(3, closed), experiment.MostSpent{Requests: 150,
			SpendTokens: experiment.SpendTokens{50 * (100 + 130 + 160), 3000}}},
		"a warm-up": {warm, experiment.MostSpent{Requests: 50, Warmup: 30,
			SpendTokens: experiment.SpendTokens{8000, 1600}}},
		"a time": {plan(1, timed), experiment.MostSpent{Unbounded: "concurrent@4"}},
		"a time, capped": {capped, experiment.MostSpent{Requests: 41,
			SpendTokens: experiment.SpendTokens{4100, 820}}},
		"arrivals, tail included": {plan(1, constant), experiment.MostSpent{Requests: 101,
			SpendTokens: experiment.SpendTokens{10100, 2020}}},
		"a sweep": {plan(1), experiment.MostSpent{Unbounded: "sweep"}},
		// 6000 a minute and 1000 at once
		"a sweep, its tokens capped": {metered, experiment.MostSpent{Requests: 59,
			SpendTokens: experiment.SpendTokens{5900, 1180}}},
		"a time, limited": {limited, experiment.MostSpent{Requests: 95,
			SpendTokens: experiment.SpendTokens{500 + 9500, 24 + 1900}}},
		"a sweep, its cost limited": {priced, experiment.MostSpent{Requests: 33,
			SpendTokens: experiment.SpendTokens{3300, 660}}},
		"a sweep with a large limit": {large, experiment.MostSpent{Requests: 10_000_000,
			SpendTokens: experiment.SpendTokens{1_000_000_000, 200_000_000}}},
		"a limit below a number of requests": {early, experiment.MostSpent{Requests: 10,
			SpendTokens: experiment.SpendTokens{1000, 200}}},
		"a sweep, capped": {sweeps, experiment.MostSpent{Requests: 181, SpendTokens: experiment.SpendTokens{18100, 3620}}},
	} {
		if got := experiment.Reckon(tt.plan); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
