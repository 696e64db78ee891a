package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/cmd/llmsweep/target"
	"llmsweep/report/lang"
	"llmsweep/report/outfile"
	"llmsweep/report/table"
	"llmsweep/report/twins"
	"llmsweep/sweep"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/twin"
	"llmsweep/sweep/twin/fit"
	"llmsweep/sweep/twin/stages"
	"llmsweep/sweep/workload"
	"llmsweep/sweep/workload/recorded"
)

// fitCmd is llmsweep fit.
type fitCmd struct {
	Paths  []string `arg:"" name:"dir" help:"Run directories of the same server, with their records."`
	Twin   string   `name:"twin" default:"twin.yaml" placeholder:"FILE" help:"Write the twin to this file (${default})."`
	Name   string   `placeholder:"NAME" help:"Name of the twin. Default: the model that was measured."`
	Ask    []string `sep:"," placeholder:"P/O" help:"Predict the saturation rate for prompts of P and answers of O tokens: 512/32, or for the lengths of a trace: a file. May be repeated."`
	Format string   `default:"console" enum:"console,markdown,json" placeholder:"NAME" help:"Format: console, markdown or json (${default})."`
	Lang   string   `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language: en or zh (${default})."`
	Output string   `short:"o" placeholder:"FILE" help:"Write to this file."`
	Force  bool     `help:"Overwrite files that llmsweep did not write, or that were changed since."`
	Plain  bool     `help:"No colour."`
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
		w, err := parseAsk(c.Ctx, text)
		if err != nil {
			return console.Usage(err)
		}
		wanted = append(wanted, w)
	}
	if err := outfile.Check(f.Twin, f.Force); err != nil {
		return console.Usage(err)
	}
	var all []stages.Stage
	var from []string
	var began []time.Time
	name := f.Name
	shown := twins.Fit{}
	var labels twin.Labels
	for _, dir := range f.Paths {
		stages, run, err := stages.Of(dir)
		if err != nil {
			return console.Usage(err)
		}
		all, from, began = append(all, stages...), append(from, filepath.Base(dir)), append(began, run.Started.UTC().Truncate(time.Second))
		for i := range run.Stages {
			if shown.Stages++; !run.Stages[i].Invalid.IsZero() {
				shown.Invalid++
			}
		}
		if name == "" {
			name = run.Target.Model
		}
		if labels == (twin.Labels{}) {
			labels = labelsOf(run)
		}
	}
	t, err := fit.To(all)
	if err != nil {
		return console.Usage(fmt.Errorf("%s: %w", strings.Join(f.Paths, ", "), err))
	}
	t.Name, t.From, t.Measured, t.Labels = table.Clean(name), from, began, labels
	b, err := t.Encode()
	if err != nil {
		return err
	}
	if err := console.WriteFiles(f.Force, outfile.File{Path: f.Twin, Content: b, Comment: outfile.CommentOf("yaml")}); err != nil {
		return err
	}
	fmt.Fprintf(c.Err, "wrote %s\n", f.Twin)
	shown.Twin = t
	for _, w := range wanted {
		if w.Name != "" {
			shown.Answers = append(shown.Answers, t.AskMixed(w))
			continue
		}
		shown.Answers = append(shown.Answers, t.Ask(w.Lengths[0][0], w.Lengths[0][1]))
	}
	flags := flags.Tables{Format: f.Format, Lang: f.Lang, Output: f.Output, Force: f.Force, Plain: f.Plain}
	return flags.Write(c, func(w io.Writer) error { return twins.JSON(w, shown) }, func(l lang.Lang) []table.Section { return shown.Sections(l) }, nil)
}

// labelsOf returns the labels of a run.
func labelsOf(run *rundir.Run) twin.Labels {
	l := run.Labels
	return twin.Labels{Model: table.Clean(l.Model), GPU: table.Clean(l.GPU), GPUs: l.GPUs, Engine: table.Clean(l.Engine), Quant: table.Clean(l.Quant), Price: l.Price}
}

// parseAsk reads 512/32, or a trace.
func parseAsk(ctx context.Context, text string) (m twin.Mixed, err error) {
	if _, err := os.Stat(text); err == nil {
		return mixed(ctx, text)
	}
	var l [2]int
	p, o, ok := strings.Cut(text, "/")
	l[0], err = strconv.Atoi(strings.TrimSpace(p))
	if err == nil {
		l[1], err = strconv.Atoi(strings.TrimSpace(o))
	}
	if !ok || err != nil || min(l[0], l[1]) < 1 {
		return m, fmt.Errorf("--ask %s: write tokens of prompt and answer, such as 512/32, or the file of a trace", text)
	}
	return twin.Mixed{Lengths: [][2]int{l}}, nil
}

// mixed reads the lengths of a trace.
func mixed(ctx context.Context, file string) (twin.Mixed, error) {
	const most = 20_000 // requests: more change nothing
	t, err := recorded.OpenTrace(ctx, file, recorded.TraceOptions{Limit: most})
	if err != nil {
		return twin.Mixed{}, err
	}
	m := twin.Mixed{Name: filepath.Base(file)}
	for r := range t.All() {
		m.Lengths = append(m.Lengths, [2]int{r.Prompt, r.Output})
	}
	return m, nil
}

// checkForFit refuses what a sweep for a fit does not do.
func (s *sweepCmd) checkForFit() error {
	if s.Adaptive || s.Repeats > 1 || s.Prompt != "" || s.Dataset != "" || s.PrefixTokens > 0 || s.Turns != "" || len(s.SLO) > 0 {
		return errForFit
	}
	return nil
}

var errForFit = errors.New("--for-fit varies the lengths of prompts and answers by design: leave out --adaptive, --repeats, --slo, --prompt, --dataset, --prefix-tokens and --turns")

// design returns the design of sweep --for-fit for a server.
func design(t *target.Target) (*sweep.FitDesign, error) {
	w, ok := t.Workload.(*workload.Synthetic)
	if !ok {
		return nil, console.Usage(errForFit)
	}
	return &sweep.FitDesign{Prompt: w.Prompt.Mean, Output: w.Output.Mean, Longest: t.Longest, Source: func(stage string, d sweep.Draw) load.Source {
		return w.Varied(stage, d)
	}}, nil
}

// forFit measures for sweep --for-fit.
func forFit(ctx context.Context, c sweep.Config, t *target.Target, run *rundir.Run) error {
	d, err := design(t)
	if err != nil {
		return err
	}
	return sweep.ForFit(ctx, c, *d, run)
}

// varied returns the sessions of the stages of sweep --for-fit.
func varied(t *target.Target) (func(stage string) load.Source, error) {
	d, err := design(t)
	if err != nil {
		return nil, err
	}
	return d.Stage, nil
}
