package main

import (
	"time"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/report/lang"
	"llmsweep/sweep/cluster"
)

// mergeCmd is llmsweep merge.
type mergeCmd struct {
	Dirs       []string      `arg:"" name:"dir" help:"Run directories of all ranks, in any order."`
	Out        string        `short:"o" required:"" type:"path" placeholder:"DIR" help:"Run directory to make."`
	ClockError time.Duration `name:"clock-error" placeholder:"TIME" positive:"" help:"Largest error of the clocks of the ranks, such as 2ms, where you know it. Default: what their kernels reckoned; Linux tells it where chronyd, ntpd or systemd-timesyncd keeps the clock."`
	Force      bool          `help:"Overwrite what --out already holds."`
	Lang       string        `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language of the report: en or zh (${default})."`
	Plain      bool          `help:"No colour."`
}

// Help returns what --help prints after the purpose.
func (mergeCmd) Help() string {
	return `Records are joined, and all metrics are computed from them again. It refuses directories that are not all ranks of one
experiment: a rank is missing or there twice, or the seed, the stages or the server differ.

Examples:
  llmsweep run http://server:8000 --rate 40 --duration 5m --rank 0 --ranks 2 --start-at 2026-01-31T15:00:00Z --out r0
  llmsweep run http://server:8000 --rate 40 --duration 5m --rank 1 --ranks 2 --start-at 2026-01-31T15:00:00Z --out r1
  llmsweep merge r0 r1 --out both

More: llmsweep help cluster`
}

// Run merges.
func (m *mergeCmd) Run(c *console.Console) error {
	c.Lang = lang.Lang(m.Lang)
	if err := cluster.CheckMerge(m.Dirs); err != nil {
		return console.Usage(err)
	}
	dir, err := c.RunDir(m.Out, m.Force)
	if err != nil {
		return console.Usage(err)
	}
	defer dir.Close()
	run, err := cluster.MergeRun(m.Dirs, m.ClockError, dir)
	if err != nil {
		return err
	}
	e := job.Measurement{Console: c, Kind: run.Plan.Kind, Results: &flags.Results{Lang: m.Lang, Plain: m.Plain}}
	return e.Conclude(run, dir)
}
