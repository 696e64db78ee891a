package dryrun

import (
	"testing"
	"time"

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
	sweeps := plan(1)
	sweeps.Caps, sweeps.Longest = load.NewCaps(3, 0), time.Minute
	for name, tt := range map[string]struct {
		plan *Plan
		want Most
	}{
		"a number of requests":    {plan(1, closed), Most{Requests: 50, Prompt: 5000, Output: 1000}},
		"conversations":           {plan(3, closed), Most{Requests: 150, Prompt: 50 * (100 + 130 + 160), Output: 3000}},
		"a warm-up":               {warm, Most{Requests: 50, Warmup: 30, Prompt: 8000, Output: 1600}},
		"a time":                  {plan(1, timed), Most{Unbounded: "concurrent@4"}},
		"a time, capped":          {capped, Most{Requests: 41, Prompt: 4100, Output: 820}},
		"arrivals, tail included": {plan(1, constant), Most{Requests: 101, Prompt: 10100, Output: 2020}},
		"a sweep":                 {plan(1), Most{Unbounded: "sweep"}},
		"a sweep, capped":         {sweeps, Most{Requests: 181, Prompt: 18100, Output: 3620}},
	} {
		if got := Reckon(tt.plan); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
