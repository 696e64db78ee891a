package dryrun

import (
	"testing"
	"time"

	"llmsweep/client/spend"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/workload"
)

func lengths(n float64) rundir.Lengths { return rundir.Lengths{Mean: n} }

// plan returns a plan whose requests have 100 prompt and 20 output tokens, or are conversations of 3 turns.
func plan(turns int, stages ...experiment.Stage) *Plan {
	var sources func(string) load.Source = workload.NewSynthetic(lengths(100), lengths(20), 1, workload.Guess).Stage
	if turns > 1 {
		talk := workload.Talk{Turns: lengths(float64(turns)), First: lengths(100), Later: lengths(10), Output: lengths(20)}
		sources = workload.NewConversations(talk, 1, workload.Guess).Stage
	}
	return &Plan{Stages: stages, Seed: 7, Sources: sources, Count: func(s string) int { return len(s) }}
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
	limited.Limits, limited.Before = &spend.Limits{Tokens: 12_000}, Tokens{500, 24}
	priced := plan(1)
	priced.Limits = &spend.Limits{Cost: 0.01, PriceIn: 1, PriceOut: 10}
	large := plan(1)
	large.Limits = &spend.Limits{Tokens: 1_200_000_000}
	early := plan(1, closed)
	early.Limits = &spend.Limits{Tokens: 1200}
	sweeps := plan(1)
	sweeps.Caps, sweeps.Longest = load.NewCaps(3, 0), time.Minute
	for name, tt := range map[string]struct {
		plan *Plan
		want Most
	}{
		"a number of requests":               {plan(1, closed), Most{Requests: 50, Tokens: Tokens{5000, 1000}}},
		"conversations":                      {plan(3, closed), Most{Requests: 150, Tokens: Tokens{50 * (100 + 130 + 160), 3000}}},
		"a warm-up":                          {warm, Most{Requests: 50, Warmup: 30, Tokens: Tokens{8000, 1600}}},
		"a time":                             {plan(1, timed), Most{Unbounded: "concurrent@4"}},
		"a time, capped":                     {capped, Most{Requests: 41, Tokens: Tokens{4100, 820}}},
		"arrivals, tail included":            {plan(1, constant), Most{Requests: 101, Tokens: Tokens{10100, 2020}}},
		"a sweep":                            {plan(1), Most{Unbounded: "sweep"}},
		"a sweep, its tokens capped":         {metered, Most{Requests: 59, Tokens: Tokens{5900, 1180}}}, // 6000 a minute and 1000 at once
		"a time, limited":                    {limited, Most{Requests: 95, Tokens: Tokens{500 + 9500, 24 + 1900}}},
		"a sweep, its cost limited":          {priced, Most{Requests: 33, Tokens: Tokens{3300, 660}}},
		"a sweep with a large limit":         {large, Most{Requests: 10_000_000, Tokens: Tokens{1_000_000_000, 200_000_000}}},
		"a limit below a number of requests": {early, Most{Requests: 10, Tokens: Tokens{1000, 200}}},
		"a sweep, capped":                    {sweeps, Most{Requests: 181, Tokens: Tokens{18100, 3620}}},
	} {
		if got := Reckon(tt.plan); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
