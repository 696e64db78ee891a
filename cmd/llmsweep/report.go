package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"llmsweep/report"
	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
)

// reportCmd is llmsweep report.
type reportCmd struct {
	Dirs   []string `arg:"" name:"dir" type:"path" help:"Run directories."`
	Format string   `default:"console" help:"One of ${formats}."`
	Lang   string   `default:"en" enum:"en,zh" help:"Language: en, zh."`
	Output string   `short:"o" type:"path" placeholder:"FILE" help:"Write to a file instead."`
	Plain  bool     `help:"No colour."`
}

// Help is what --help says at its end.
func (reportCmd) Help() string {
	return `Examples:
  llmsweep report llmsweep-run
  llmsweep report llmsweep-run --format markdown --lang zh -o report.md
  llmsweep report run-a run-b --format csv`
}

// Run renders.
func (r *reportCmd) Run(c *console) error {
	var runs []rundir.Run
	for _, path := range r.Dirs {
		run, err := sweep.Reopen(path)
		if err != nil {
			return usage(err)
		}
		runs = append(runs, *run)
	}
	out := c.out
	options := report.Options{Lang: report.Lang(r.Lang)}
	if r.Output == "" {
		options = consoleOptions(c, &outFlags{Lang: r.Lang, Plain: r.Plain}, "")
	} else {
		f, err := os.Create(r.Output)
		if err != nil {
			return usage(err)
		}
		defer f.Close()
		out = f
	}
	if err := render(out, r.Format, runs, options); err != nil {
		return err
	}
	return nil
}

func render(w io.Writer, format string, runs []rundir.Run, o report.Options) error {
	for _, known := range report.Formats() {
		if known == format {
			return report.Render(w, format, runs, o)
		}
	}
	return usage(fmt.Errorf("--format %s: there are %s", filepath.Base(format), strings.Join(report.Formats(), ", ")))
}
