package main

import (
	"errors"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/slo"
)

type sweepCmd struct {
	URL []string `arg:"" optional:"" name:"url" help:"The server; several share the requests."`

	flags.Workload
	flags.Objectives
	flags.Sweep
	flags.Target
	flags.Results
	DryRun bool `name:"dry-run" help:"Print what it sends and costs at most, and send nothing." hidden:"" group:"How long"`
	flags.Selftest
	flags.Cluster
}

func (sweepCmd) Help() string {
	c := sweep.Defaults()
	o := job.Outlooks(&c)
	return findings.Takes(o[0], o[1], lang.English) + `
--budget sets the time. sim:Qwen2-7B/L20 in place of the URL is a simulated server.

  llmsweep sweep http://localhost:8000
  llmsweep sweep http://localhost:8000 --budget 10m --slo 'ttft:p99<500ms'
  llmsweep sweep http://localhost:8000 --label gpu="L20 48GB",gpus=2

All other flags (TLS, hosted APIs, conversations, caches): llmsweep help sweep`
}

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
	if plan.Users && s.Turns == "" && !s.MultiTurn && s.Preset == "" {
		return nil, errors.New("--by users counts people who hold conversations: give --turns, such as --turns 8, " +
			"--workload, or --dataset with --multi-turn")
	}
	return &job.Job{
		Console: c, URLs: servers, Target: &s.Target, Workload: &s.Workload, Plan: plan, Results: &s.Results,
		Dir:      func() (*store.Dir, error) { return c.RunDir(s.Out, s.Force) },
		Selftest: &s.Selftest, Cluster: &s.Cluster,
	}, nil
}

func (s *sweepCmd) Run(c *console.Console) error {
	j, err := s.job(c)
	if err != nil {
		return console.Usage(err)
	}
	if s.DryRun {
		return j.DryRun(j.Plan.Longest())
	}
	if s.Repeats > 1 {
		return repeat(c, repeats{s.Repeats, s.Seed, &s.Results, &s.Target, &s.Cluster},
			func(c *console.Console, seed uint64, dir string) (*job.Job, error) {
				one := *s
				one.Seed, one.Out, one.Spending = seed, dir, nil
				return one.job(c)
			})
	}
	return j.Run()
}
