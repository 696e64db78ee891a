package main

import (
	"errors"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/slo"
)

// sweepCmd is llmsweep sweep.
type sweepCmd struct {
	URL []string `arg:"" optional:"" name:"url" help:"Base URL of the server, or sim: for the simulated one (sim:Qwen2-7B/L20x2/int4 names a model and GPU). Requests are shared out over several."`

	flags.Target
	DryRun bool `name:"dry-run" help:"Print what it sends and costs at most, and send nothing." group:"Cost"`
	flags.Workload
	flags.Sweep
	flags.Objectives
	Format string `default:"console" enum:"console,verdict" placeholder:"FORMAT" help:"Format of the result: console or verdict (${default})." group:"Output"`
	flags.Results
	flags.Selftest
	flags.Cluster
}

// Help returns what --help prints after the purpose.
func (sweepCmd) Help() string {
	return `It measures one request at a time, then the maximum throughput, then arrival rates between the two, and reports the highest rate that the
server sustains. That takes about seven minutes, and longer where requests take several seconds.

Examples:
  llmsweep sweep http://localhost:8000
  llmsweep sweep http://localhost:8000 --prompt-tokens 1024 --output-tokens 256 --label gpu="L20 48GB",gpus=2,engine=vLLM
  llmsweep sweep http://localhost:8000 --budget 5m --slo 'ttft:p99<500ms' --slo 'itl:p95<50ms'
  llmsweep sweep https://api.example.com --model NAME --points 5 --price-in 3 --price-out 15 --max-cost 2
  llmsweep sweep http://localhost:8000 --by users --turns 8 --think-time exp:2s --slo 'ttft:p95<2s'
  llmsweep sweep http://localhost:8000 --repeats 3 --out before    # then: llmsweep compare before -- after

More: llmsweep help sweep (with the flags that few need), llmsweep help metrics, llmsweep help verdicts`
}

// job returns the sweep that the flags ask for.
func (s *sweepCmd) job(c *console.Console) (*job.Job, error) {
	servers, err := c.Servers(s.URL)
	if err != nil {
		return nil, err
	}
	plan, err := s.Sweep.Config(s.Seed)
	if err != nil {
		return nil, err
	}
	if plan.SLO, err = slo.ParseAll(s.SLO); err != nil {
		return nil, err
	}
	switch {
	case !plan.Users:
	case s.Turns == "" && !s.MultiTurn && s.Preset == "":
		return nil, errors.New("--by users counts people who hold conversations: give --turns, such as --turns 8, --workload, or --dataset with --multi-turn")
	case s.Cluster != (flags.Cluster{Rank: -1}):
		return nil, errors.New("--by users is measured from one machine: leave out --rank, --ranks and --coordinator")
	}
	return &job.Job{
		Console: c, Urls: servers, Target: &s.Target, Workload: &s.Workload, Plan: plan, Results: &s.Results,
		Dir:      func() (*store.Dir, error) { return c.RunDir(s.Out, s.Force) },
		Selftest: &s.Selftest, Cluster: &s.Cluster, Format: s.Format,
	}, nil
}

// Run sweeps.
func (s *sweepCmd) Run(c *console.Console) error {
	e, err := s.job(c)
	if err != nil {
		return console.Usage(err)
	}
	if s.DryRun {
		return e.DryRun(e.Plan.Longest())
	}
	if s.Repeats > 1 {
		return repeat(c, repeated{s.Repeats, s.Seed, &s.Results, &s.Target, &s.Cluster}, func(c *console.Console, seed uint64, dir string) (*job.Job, error) {
			one := *s
			one.Seed, one.Out, one.Spending = seed, dir, nil
			return one.job(c)
		})
	}
	return e.Run()
}
