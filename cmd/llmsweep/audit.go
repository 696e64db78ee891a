package main

import (
	"errors"
	"slices"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/audit"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
)

type auditCmd struct {
	Paths  []string `arg:"" optional:"" name:"path" help:"Published documents, run directories, or directories of those."`
	Format string   `default:"text" enum:"text,json" placeholder:"NAME" help:"text or json (${default})."`
	Lang   string   `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language (that of LANG)."`
	All    bool     `help:"Print each remark, also those that are alike."`
	Rules  bool     `help:"List the rules, with tolerances and reasons."`
}

func (auditCmd) Help() string {
	return `Exit code 1: something impossible or doubtful was found.

Examples:
  llmsweep audit results.md
  llmsweep audit llmsweep-run --format json
  llmsweep audit --rules

More: llmsweep help audit`
}

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
	if slices.ContainsFunc(all, func(f audit.Report) bool {
		return f.Broken || slices.ContainsFunc(f.Findings, func(f audit.Finding) bool { return f.Grade != audit.Remark })
	}) {
		return console.Exit(console.Failed, errors.New("")) // everything has been printed
	}
	return nil
}
