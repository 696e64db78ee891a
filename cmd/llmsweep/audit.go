package main

import (
	"errors"
	"slices"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/audit"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
)

// auditCmd is llmsweep audit.
type auditCmd struct {
	Paths  []string `arg:"" optional:"" name:"path" help:"Documents with published results, run directories, or directories of run directories."`
	Format string   `default:"text" enum:"text,json" placeholder:"NAME" help:"text or json (${default})."`
	Lang   string   `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language: en or zh. Default: zh where LANG starts with zh, else en."`
	All    bool     `help:"Print each remark, also those that differ from another in their numbers alone."`
	Rules  bool     `help:"List the rules, their tolerances and the reasons for them."`
}

// Help returns what --help prints after the purpose.
func (auditCmd) Help() string {
	return `Exit codes: 0 nothing found, or remarks only; 1 something impossible or doubtful found; 2 a path could not be read.

Examples:
  llmsweep audit results.md
  llmsweep audit llmsweep-run --format json
  llmsweep audit --rules

More: llmsweep help import`
}

// Run audits.
func (a *auditCmd) Run(c *console.Console) error {
	if a.Rules {
		return audit.TextRules(c.Out, lang.Lang(a.Lang))
	}
	if len(a.Paths) == 0 {
		return console.Usage(errors.New("audit needs a document or a run directory; llmsweep audit --help has examples"))
	}
	all, err := inputs.InspectPaths(a.Paths)
	if err != nil {
		return console.Usage(err)
	}
	write := func() error { return audit.Text(c.Out, all, lang.Lang(a.Lang), a.All) }
	if a.Format == "json" {
		write = func() error { return audit.JSON(c.Out, all) }
	}
	if err := write(); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(f audit.Audited) bool {
		return slices.ContainsFunc(f.Findings, func(f audit.Finding) bool { return f.Grade != audit.Remark })
	}) {
		return console.Exit(console.Failed, errors.New("")) // everything has been printed
	}
	return nil
}
