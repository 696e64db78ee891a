package main

import (
	"context"

	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// sweepCmd is llmsweep sweep.
type sweepCmd struct {
	URL string `arg:"" name:"url" help:"Base URL of the server, or sim: for the embedded one (sim:Qwen2-7B/L20x2/int4 names a preset)."`

	targetFlags
	loadFlags
	planFlags
	sloFlags
	outFlags
	selftestFlags
}

// Help is what --help says at its end.
func (sweepCmd) Help() string {
	return `Examples:
  llmsweep sweep http://localhost:8000
  llmsweep sweep http://localhost:8000 --prompt-tokens 1024 --output-tokens 256 --label gpu="L20 48GB",gpus=2,engine=vLLM
  llmsweep sweep http://localhost:8000 --slo 'ttft:p99<500ms' --slo 'itl:p95<50ms'    # and the highest rate that keeps both
  llmsweep sweep https://api.example.com --model NAME --points 5 --stage-time 30s    # key in LLMSWEEP_API_KEY
  llmsweep sweep http://localhost:8000 --points 5 --repeats 3    # each rate three times, shuffled: how far single runs can be trusted
  llmsweep sweep sim: --stage-time 5s`
}

// Run sweeps.
func (s *sweepCmd) Run(c *console) error {
	plan, err := s.config(s.Seed)
	if err != nil {
		return usage(err)
	}
	if plan.SLO, err = slo.ParseAll(s.SLO); err != nil {
		return usage(err)
	}
	e := experiment{
		console: c, url: s.URL, target: &s.targetFlags, load: &s.loadFlags, plan: plan, out: &s.outFlags, dir: s.freshDir,
		kind: sweep.KindSweep, stages: plan.Points*plan.Repeats + 2, conns: plan.MaxConcurrency, measure: sweepAll,
		fit: &s.selftestFlags, width: plan.MaxConcurrency,
	}
	return e.run()
}

// sweepAll is the measurement of sweep and demo.
func sweepAll(ctx context.Context, c sweep.Config, _ *target, run *rundir.Run) error {
	return sweep.Sweep(ctx, c, run)
}
