package main

import (
	"path/filepath"
	"time"

	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
)

// demoCmd is llmsweep demo: a short sweep of a simulated server whose capacity is known.
type demoCmd struct {
	StageTime time.Duration `name:"stage-time" default:"2500ms" hidden:"" help:"Shortest time of a stage."`
	outFlags
	selftestFlags
}

// Help returns what --help prints after the purpose.
func (demoCmd) Help() string {
	return `The result is written to llmsweep-demo, which the next demo overwrites.

Examples:
  llmsweep demo
  llmsweep demo --lang zh`
}

// demoDir is where it writes. The next demo overwrites it.
const demoDir = "llmsweep-demo"

// demoDir makes the directory of a demo, in place of the last one. What is no demo's stays.
func (c *console) demoDir(force bool) (*rundir.Dir, error) {
	path := filepath.Join(c.dir, demoDir)
	if run, err := rundir.Open(path); err == nil && run.Target.Capacity.Known() {
		force = true
	}
	return c.runDir(path, force)
}

// Run sweeps the simulated server.
func (d *demoCmd) Run(c *console) error {
	plan := sweep.Defaults()
	plan.StageTime, plan.StageMax, plan.StageRequests, plan.MaxConcurrency = d.StageTime, d.StageTime*8/5, 20, 128
	load := loadFlags{PromptTokens: "64", OutputTokens: "16", Seed: plan.Seed, DatasetRows: 1, PrefixGroups: 1, TurnTokens: "64", ThinkTime: "1s"}
	e := measurement{
		console: c, url: simScheme + "demo", target: &targetFlags{API: "auto", Timeout: time.Minute}, load: &load,
		plan: plan, out: &d.outFlags, kind: rundir.KindSweep, stages: plan.Points + 2, conns: plan.MaxConcurrency, measure: sweepAll,
		fit: &d.selftestFlags, width: plan.MaxConcurrency, within: true,
		dir: func() (*rundir.Dir, error) {
			if d.Out != "" {
				return c.runDir(d.Out, d.Force)
			}
			return c.demoDir(d.Force)
		},
	}
	return e.run()
}
