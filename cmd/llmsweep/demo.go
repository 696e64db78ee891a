package main

import (
	"path/filepath"
	"time"

	"github.com/alecthomas/kong"

	"llmsweep/client/api"
	"llmsweep/client/sim"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/report/inputs"
	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// demoCmd is llmsweep demo: a short sweep of a simulated server whose capacity is known.
type demoCmd struct {
	StageTime time.Duration `name:"stage-time" default:"3500ms" hidden:"" help:"Shortest time of a stage."`
	flags.Results
	flags.Selftest
}

func (demoCmd) Help() string {
	return `The result is written to llmsweep-demo, which the next demo overwrites.

Examples:
  llmsweep demo
  llmsweep demo --lang zh

More flags: llmsweep help demo`
}

const demoDir = "llmsweep-demo"

// replaceDemo makes the directory of a demo in place of the last one. It does not replace another run, nor a report
// that was changed.
func replaceDemo(c *console.Console, force bool) (*store.Dir, error) {
	path := filepath.Join(c.Dir, demoDir)
	if run, err := store.Open(path); err == nil && run.Target.Capacity.Known() &&
		inputs.CheckOutput(filepath.Join(path, rundir.ReportFile), force) == nil {
		force = true
	}
	return c.RunDir(path, force)
}

func (d *demoCmd) Run(c *console.Console) error { return d.job(c).Run() }

func (d *demoCmd) job(c *console.Console) *job.Job {
	plan := sweep.Defaults()
	plan.StageTime, plan.StageMax, plan.StageRequests, plan.MaxConcurrency = d.StageTime, 6*d.StageTime, 20, 128
	load := flags.Workload{PromptTokens: "64", OutputTokens: "16"}
	if err := kong.ApplyDefaults(&load); err != nil {
		panic(err) // the flags themselves are wrong
	}
	return &job.Job{
		Console: c, URLs: []string{sim.Scheme + "demo"}, Target: &flags.Target{API: api.Auto, Timeout: time.Minute},
		Workload: &load, Plan: plan, Results: &d.Results, Selftest: &d.Selftest, LimitToSelftest: true,
		Dir: func() (*store.Dir, error) {
			if d.Out != "" {
				return c.RunDir(d.Out, d.Force)
			}
			return replaceDemo(c, d.Force)
		},
	}
}
