package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"llmsweep/report"
	"llmsweep/report/lang"
	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// reportCmd is llmsweep report.
type reportCmd struct {
	Dirs   []string `arg:"" optional:"" name:"dir" help:"Run directories; for --document also directories of those, and documents with published results."`
	Format string   `default:"console" help:"One of ${formats}."`
	Lang   string   `default:"en" enum:"en,zh" help:"Language: en, zh."`
	Output string   `short:"o" placeholder:"FILE" help:"Write to a file instead."`
	Plain  bool     `help:"No colour."`

	Document    bool `help:"Write one document that compares all of them, with drawings beside it. Where -o is such a document, its own parts are renewed, and what people wrote in it is kept."`
	AnyWorkload bool `name:"any-workload" help:"With --document: compare even what asked different things of its servers."`
	wishFlags
}

// Help is what --help says at its end.
func (reportCmd) Help() string {
	return `Examples:
  llmsweep report llmsweep-run
  llmsweep report llmsweep-run --format markdown --lang zh -o report.md
  llmsweep report run-a run-b --format csv
  llmsweep report llmsweep-run --slo 'ttft:p99<500ms' --slo 'itl:p95<50ms'
  llmsweep report run-a results.md --document --lang zh -o report.md
  llmsweep report run-b --document -o report.md --slo 'ttft:mean<200ms' --demand 20rps --price L20=1.2`
}

// Run renders.
func (r *reportCmd) Run(c *console) error {
	if r.Document {
		return r.document(c)
	}
	if len(r.Dirs) == 0 {
		return usage(errors.New("report needs a run directory; llmsweep report --help has examples"))
	}
	terms, err := slo.ParseAll(r.SLO)
	if err != nil {
		return usage(err)
	}
	var runs []rundir.Run
	for _, path := range r.Dirs {
		run, err := sweep.Reopen(path)
		if err != nil {
			return usage(err)
		}
		if len(terms) > 0 {
			if err := sweep.Assess(path, run, terms); err != nil {
				return usage(err)
			}
		}
		runs = append(runs, *run)
	}
	out := c.out
	options := report.Options{Lang: lang.Lang(r.Lang)}
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
