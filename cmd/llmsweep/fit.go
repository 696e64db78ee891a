package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/report/choose"
	"llmsweep/report/inputs"
	"llmsweep/report/table"
	"llmsweep/sweep/twin"
)

// fitCmd is llmsweep fit.
type fitCmd struct {
	Paths  []string `arg:"" name:"dir" help:"Run directories of the same server, with their records."`
	Twin   string   `name:"twin" default:"twin.yaml" placeholder:"FILE" help:"Write the twin to this file (${default})."`
	Name   string   `placeholder:"NAME" help:"Name of the twin. Default: the model that was measured."`
	Ask    []string `sep:"," placeholder:"P/O" help:"Predict saturation rate and latencies for prompts of P and answers of O tokens: 512/32, or for the lengths of a trace: a file. May be repeated."`
	Format string   `default:"console" enum:"console,markdown,json" placeholder:"NAME" help:"Format: console, markdown or json (${default})."`
	Lang   string   `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language: en or zh. Default: zh where LANG starts with zh, else en."`
	Output string   `short:"o" placeholder:"FILE" help:"Write to this file."`
	Force  bool     `help:"Overwrite files that llmsweep did not write, or that were changed since."`
	Plain  bool     `help:"No colour."`
	All    bool     `help:"Show also the held-out check, row by row, and the numbers of the twin."`
}

// Help returns what --help prints after the purpose.
func (fitCmd) Help() string {
	return `Examples:
  llmsweep sweep http://localhost:8000 --for-fit --out fit-run
  llmsweep fit fit-run
  llmsweep fit fit-run --ask 512/32 --ask 64/256
  llmsweep fit fit-run --ask trace.jsonl
  llmsweep sweep sim:twin.yaml --prompt-tokens 2048

More: llmsweep help fit`
}

// Run fits.
func (f *fitCmd) Run(c *console.Console) error {
	var wanted []twin.Mixed
	for _, text := range f.Ask {
		w, err := twin.ParseLengths(c.Ctx, text)
		if err != nil {
			return console.Usage(err)
		}
		wanted = append(wanted, w)
	}
	if err := inputs.CheckOutput(f.Twin, f.Force); err != nil {
		return console.Usage(err)
	}
	all, err := twin.CollectStages(f.Paths)
	if err != nil {
		return console.Usage(err)
	}
	t, err := twin.Fit(all.Stages)
	if err != nil {
		return console.Usage(fmt.Errorf("%s: %w", strings.Join(f.Paths, ", "), err))
	}
	t.Name, t.From, t.Measured = table.Clean(cmp.Or(f.Name, all.Model)), all.From, all.Began
	l := all.Labels
	t.Labels = twin.Labels{Model: table.Clean(l.Model), GPU: table.Clean(l.GPU), GPUs: l.GPUs, Engine: table.Clean(l.Engine), Quant: table.Clean(l.Quant), Price: l.Price}
	b, err := t.Encode()
	if err != nil {
		return err
	}
	if err := console.WriteFiles(f.Force, inputs.OutputFile{Path: f.Twin, Content: b, Comment: inputs.CommentOf("yaml")}); err != nil {
		return err
	}
	fmt.Fprintf(c.Err, "wrote %s\n", f.Twin)
	shown := choose.TwinFit{Twin: t, Stages: all.Measured, Invalid: all.Invalid}
	for _, w := range wanted {
		shown.Answers = append(shown.Answers, t.Ask(w).WithLatencies(t, w))
	}
	flags := flags.Tables{Format: f.Format, Lang: f.Lang, Output: f.Output, Force: f.Force, Plain: f.Plain, All: f.All}
	return flags.Write(c, func(w io.Writer) error { return choose.TwinJSON(w, shown) }, shown.Sections(), nil)
}

// checkForFit refuses what a sweep for a fit does not do.
func (s *sweepCmd) checkForFit() error {
	if s.Adaptive || s.Repeats > 1 || s.Prompt != "" || s.Dataset != "" || s.PrefixTokens > 0 || s.Turns != "" || s.Traffic != "" || len(s.SLO) > 0 || s.AnswerLimit > 0 {
		return job.ErrForFit
	}
	return nil
}
