package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/report"
	"llmsweep/report/findings"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	html "llmsweep/report/page"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

type reportCmd struct {
	Dirs   []string `arg:"" optional:"" name:"dir" help:"Run directories; with --document also published documents."`
	Format string   `default:"console" placeholder:"NAME" help:"See llmsweep help report (by -o, else ${default})." group:"Result"`
	Output string   `short:"o" placeholder:"FILE" help:"Write to this file." group:"Result"`
	Lang   string   `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language (that of LANG)." group:"Result"`
	Force  bool     `help:"Overwrite files that llmsweep did not write, or that were changed since." hidden:"" group:"Result"`
	Plain  bool     `help:"No colour." hidden:"" group:"Result"`

	All bool `help:"Show all rows, columns and notes." group:"Result"`
	flags.Percentiles

	OnlyTable bool   `help:"Of --format markdown: the six-column table alone." group:"Result"`
	OnlyGrid  bool   `help:"Leave out the rates that narrowed the answer." group:"Result"`
	UnitWords string `default:"tokens/sec" enum:"tokens/sec,tokens/second" placeholder:"WORDS" help:"tokens/sec or tokens/second (tokens/sec)." group:"Result"`

	Percentile string `default:"interpolated" enum:"interpolated,nearest" placeholder:"KIND" help:"Of --format stress: interpolated, or nearest: a measured value, as stress testers print it." hidden:"" group:"Result"`

	Drawing string `placeholder:"NAME" help:"Of --format svg: output, ttft, itl, latency or speed." group:"Result"`

	Document    bool     `help:"Write one document that compares all results." group:"Document"`
	Order       []string `sep:"," placeholder:"K,K" help:"Sort by model, gpu, gpus, engine, quant (gpu,engine)." group:"Document"`
	Source      string   `placeholder:"URL" help:"Source of the results (the names of their files)." group:"Document"`
	AnyWorkload bool     `name:"any-workload" help:"Compare also results of different workloads." group:"Document"`
	flags.Requirements

	Rules string `default:"" enum:",mlperf" placeholder:"mlperf" help:"Judge the percentiles of the SLO also by MLPerf's rule for runs that end early (99 %)." hidden:"" group:"Choice"`
}

func (reportCmd) Help() string {
	return `Examples:
  llmsweep report llmsweep-run
  llmsweep report llmsweep-run --all --percentiles 50,95,99
  llmsweep report llmsweep-run --lang zh -o report.md
  llmsweep report llmsweep-run --format markdown --only-table
  llmsweep report llmsweep-run --slo 'ttft:p99<500ms'
  llmsweep report l20 a100 -o index.html
  llmsweep report l20 a100 results.md --document -o comparison.md

All other flags: llmsweep help report`
}

// AfterApply takes the format from the name of the file, where --format does not tell.
func (r *reportCmd) AfterApply() (err error) {
	if !r.Document { // it is Markdown whatever its name
		r.Format, err = flags.FormatFor(r.Format, r.Output, append(flags.ReportFormats(), formatPNG))
	}
	return err
}

// formatPNG is a format that people ask for, but llmsweep does not write.
const formatPNG = "png"

func (r *reportCmd) Run(c *console.Console) error {
	if r.Document {
		return r.document(c)
	}
	if err := r.check(); err != nil {
		return console.Usage(err)
	}
	runs, err := r.read()
	if err != nil {
		return console.Usage(err)
	}
	if r.Format == flags.FormatSVG {
		return r.draw(c, &runs[0])
	}
	if r.Rules != "" {
		if err := r.checkRules(runs); err != nil {
			return console.Usage(err)
		}
	}
	if r.Format == "markdown" && r.Output != "" && len(runs) == 1 && r.Rules == "" && !r.OnlyTable {
		return r.illustrate(&runs[0])
	}
	if r.Output == "" {
		return r.print(c.Out, runs, r.options(c.Options(r.Lang, r.Plain, "")))
	}
	var b bytes.Buffer
	if err := r.print(&b, runs, r.options(report.Options{Lang: lang.Lang(r.Lang)})); err != nil {
		return err
	}
	return console.WriteFiles(r.Force, inputs.OutputFile{Path: r.Output, Content: b.Bytes(),
		Comment: inputs.CommentOf(r.Format)})
}

func (r *reportCmd) check() error {
	switch {
	case len(r.Dirs) == 0:
		return errors.New("report needs a run directory; llmsweep report --help has examples")
	case r.Format == formatPNG:
		return errors.New("llmsweep writes no PNG: use --format svg, which browsers show and save as a picture")
	}
	if err := flags.CheckFormat(r.Format, flags.ReportFormats()); err != nil {
		return err
	}
	switch {
	case r.Format == flags.FormatSVG && len(r.Dirs) > 1:
		return fmt.Errorf("--format %s takes one run directory", r.Format)
	case r.Drawing != "" && r.Format != flags.FormatSVG:
		return errors.New("--drawing needs --format svg")
	case (r.OnlyTable || r.OnlyGrid) && r.Format != "markdown":
		return errors.New("--only-table and --only-grid are of --format markdown")
	case r.nearest() && r.Format != published.Stress:
		return errors.New("--percentile nearest is of --format stress")
	}
	return nil
}

func (r *reportCmd) nearest() bool { return r.Percentile == "nearest" }

func (r *reportCmd) read() ([]rundir.Run, error) {
	terms, err := slo.ParseAll(r.SLO)
	if err != nil {
		return nil, err
	}
	var runs []rundir.Run
	for _, path := range r.Dirs {
		run, err := saturation.Reopen(path)
		if err != nil {
			return nil, err
		}
		setup.SetSaturation(run)
		if len(terms) > 0 {
			if err := saturation.Assess(path, run, terms); err != nil {
				return nil, err
			}
		}
		if r.nearest() && run.Source == nil {
			if err := measure.Nearest(run.Stages, store.Records(path)); err != nil {
				return nil, err
			}
		}
		runs = append(runs, *run)
	}
	return runs, nil
}

func (r *reportCmd) options(o report.Options) report.Options {
	o.All, o.Percentiles, o.OnlyTable, o.Nearest = r.All, r.Names, r.OnlyTable, r.nearest()
	o.SixColumn = published.SixColumnOptions{OnlyGrid: r.OnlyGrid, Tokens: r.UnitWords}
	return o
}

func (r *reportCmd) print(out io.Writer, runs []rundir.Run, o report.Options) error {
	if r.Format == flags.FormatHTML {
		return r.page(out, runs, html.WriteOptions{Lang: o.Lang})
	}
	if err := report.Render(out, r.Format, runs, o); err != nil || r.Rules == "" {
		return err
	}
	for i := range runs {
		if s, ok := findings.EarlyStopping(&runs[i]); ok {
			fmt.Fprintln(out)
			if err := table.WriteSections(out, r.Format, []table.Section{s}, table.Style{Width: o.Width, Color: o.Color,
				Lang: o.Lang}); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkRules returns an error where --rules has nothing to judge, or no place for its verdicts.
func (r *reportCmd) checkRules(runs []rundir.Run) error {
	if r.Format != "console" && r.Format != "markdown" {
		return errors.New("--rules is printed with --format console and markdown")
	}
	if !slices.ContainsFunc(runs, func(run rundir.Run) bool { _, ok := findings.EarlyStopping(&run); return ok }) {
		return errors.New("--rules mlperf judges percentiles of requests: give one, such as --slo 'ttft:p99<500ms', of a " +
			"run with records")
	}
	return nil
}

func (r *reportCmd) page(w io.Writer, runs []rundir.Run, o html.WriteOptions) error {
	if len(runs) == 1 {
		return html.Run(w, &runs[0], r.Dirs[0], o)
	}
	var all []html.Input
	for i := range runs {
		all = append(all, html.Input{Run: &runs[i], Path: r.Dirs[i]})
	}
	return html.Runs(w, all, o)
}

// draw writes one drawing. It is made before the file is, so that a wrong name leaves the file as it was.
func (r *reportCmd) draw(c *console.Console, run *rundir.Run) error {
	var b bytes.Buffer
	name := r.Drawing
	if all := html.Drawings(run, r.Dirs[0]); name == "" && len(all) > 0 { // a run of one load has none against the load
		name = all[0]
	}
	if err := html.Drawing(&b, cmp.Or(name, job.Best()[0]), run, r.Dirs[0], lang.Lang(r.Lang)); err != nil {
		return console.Usage(err)
	}
	if r.Output == "" {
		_, err := c.Out.Write(b.Bytes())
		return err
	}
	return console.WriteFiles(r.Force, inputs.OutputFile{Path: r.Output, Content: b.Bytes(),
		Comment: inputs.CommentOf(r.Format)})
}

func (r *reportCmd) illustrate(run *rundir.Run) error {
	doc, files, err := job.Report(run, r.Dirs[0], job.Base(r.Output), r.options(report.Options{Lang: lang.Lang(r.Lang)}))
	if err != nil {
		return err
	}
	all := []inputs.OutputFile{{Path: r.Output, Content: doc, Comment: inputs.XMLMark}}
	for name, b := range files {
		all = append(all, inputs.OutputFile{Path: filepath.Join(filepath.Dir(r.Output), name), Content: b,
			Comment: inputs.XMLMark})
	}
	return console.WriteFiles(r.Force, all...)
}
