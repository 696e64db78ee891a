package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/report/choose"
	"llmsweep/report/compare"
	"llmsweep/report/history"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	html "llmsweep/report/page"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/pair"
	"llmsweep/sweep/stats"
)

type compareCmd struct {
	Paths        []string `arg:"" optional:"" name:"path" help:"Run directories or published documents; the first is the baseline. Runs on either side of -- are compared as sides; label:KEY=VALUE keeps those of a side."`
	FailIf       []string `name:"fail-if" sep:"none" placeholder:"METRIC<-5%" help:"Exit code 3 beyond this limit; may be repeated." group:"What is found"`
	History      string   `placeholder:"DIR" help:"Earlier runs, for the spread between runs." group:"What is found"`
	AnyWorkload  bool     `name:"any-workload" help:"Compare also results of different workloads." group:"What is found"`
	flags.Tables `set:"formats=console, markdown, json, html"`
	flags.Page
	job.Flags
}

func (compareCmd) Help() string {
	return `The first is the baseline. ~ marks a difference that chance explains.

  llmsweep compare before after
  llmsweep compare before after --fail-if 'tokens_per_s<-5%'
  llmsweep compare before1 before2 -- after1 after2
  llmsweep compare --live http://old:8000 http://new:8000

Metrics of --fail-if, all other flags of --live: llmsweep help compare`
}

func failIfMetrics() string {
	return "\n## Metrics of --fail-if\n\n" + strings.Join(compare.Keys(), ", ") + ".\n\nWith --live: " +
		strings.Join(pair.Keys(nil, nil), ", ") +
		", accuracy, errors; with --rate 4: ttft@4rps and so on; with --concurrency 8: tokens_per_s@c8 and so on.\n"
}

func (cm *compareCmd) Run(c *console.Console) error {
	switch {
	case cm.Live:
		return cm.versus(c).Run()
	case len(cm.Paths) == 0:
		return console.Usage(errors.New("compare what? Two run directories: llmsweep compare before after; or two " +
			"servers: llmsweep compare --live http://old:8000 http://new:8000"))
	}
	if dir, ok := job.Dir(cm.Paths); ok {
		return cm.printAgain(c, dir)
	}
	return cm.compareResults(c)
}

func (cm *compareCmd) compareResults(c *console.Console) error {
	gates, err := compare.ParseGates(cm.FailIf, compare.Keys())
	if err != nil {
		return console.Usage(err)
	}
	found, first, err := sides(c.Err, cm.Paths)
	if err != nil {
		return console.Usage(err)
	}
	setups := setup.LoadWith(found, setup.Options{Lang: cm.Names(), MergeReprints: true})
	result, err := cm.compare(c, setups, first)
	if err != nil {
		return console.Usage(err)
	}
	sections := result.Report(1)
	page := func(w io.Writer, o html.WriteOptions) error { return html.Compare(w, result, setups, sections, o) }
	if err := cm.WriteWithPage(c, &cm.Tables, result.JSON, sections, page); err != nil {
		return err
	}
	if err := cm.summarize(c, sections); err != nil {
		return err
	}
	return job.Verdict(result.Changes, gates)
}

// sideMark stands for the -- between two sides among the paths: the parser takes -- for the end of the flags.
const sideMark = "\x00"

// withSides returns the arguments of compare with sideMark for --; those of other commands as they are.
func withSides(args []string) []string {
	if args[0] != "compare" {
		return args
	}
	args = slices.Clone(args)
	for i, a := range args {
		if a == "--" {
			args[i] = sideMark
		}
	}
	return args
}

// sides reads the results of both sides. first is how many the first side has; -1 without --.
func sides(w io.Writer, paths []string) (all []setup.Input, first int, err error) {
	at := slices.Index(paths, sideMark)
	if at < 0 {
		all, err = runsWithLabel(w, paths, nil)
		return all, -1, err
	}
	a, b := paths[:at], paths[at+1:]
	switch {
	case slices.Contains(b, sideMark):
		return nil, 0, errors.New("compare has two sides, with one -- between them")
	case len(a) == 0 || len(b) == 0:
		return nil, 0, errors.New("compare needs runs on both sides of --: llmsweep compare A1 A2 A3 -- B1 B2")
	}
	if all, err = runsWithLabel(w, a, b); err != nil {
		return nil, 0, err
	}
	other, err := runsWithLabel(w, b, a)
	return append(all, other...), len(all), err
}

const byLabel = "label:"

// runsWithLabel reads the results of a side that have the labels that it names. A side that names only labels takes its
// results from the paths of the other one.
func runsWithLabel(w io.Writer, side, other []string) ([]setup.Input, error) {
	isLabel := func(path string) bool { return strings.HasPrefix(path, byLabel) }
	paths := slices.DeleteFunc(slices.Clone(side), isLabel)
	if len(paths) == 0 {
		paths = slices.DeleteFunc(slices.Clone(other), isLabel)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s names a label: name the directory that holds the runs too, such as: llmsweep compare "+
			"nights label:commit=a1 -- label:commit=b2", side[0])
	}
	found, err := inputs.Read(w, paths)
	if err != nil {
		return nil, err
	}
	for _, text := range side {
		text, ok := strings.CutPrefix(text, byLabel)
		if !ok {
			continue
		}
		o, err := choose.ParseLabelFilter(text)
		if err != nil {
			return nil, fmt.Errorf("%s%s: write a label, an equals sign and a value, such as label:commit=a1", byLabel, text)
		}
		found = slices.DeleteFunc(found, func(in setup.Input) bool { return !o.Matches(setup.Labels(in.Run)) })
		if len(found) == 0 {
			return nil, fmt.Errorf("%s%s: no run in %s has this label", byLabel, text, strings.Join(paths, ", "))
		}
	}
	return found, nil
}

// compare compares single results, or sides where -- divides them or --history tells their spread.
func (cm *compareCmd) compare(c *console.Console, setups []setup.Setup, first int) (*compare.Comparison, error) {
	switch {
	case first < 0 && cm.History == "":
		return compare.Of(setups, cm.AnyWorkload)
	case first < 0 && len(setups) != 2:
		return nil, errors.New("--history needs two results, or two sides with -- between them: llmsweep compare A1 A2 -- " +
			"B1 --history nights")
	case first < 0:
		first = 1
	}
	known := func(*setup.Setup, string) stats.Spread { return stats.Spread{} }
	if cm.History != "" {
		earlier, err := inputs.Read(c.Err, []string{cm.History})
		if err != nil {
			return nil, err
		}
		h, err := history.Analyze(setup.Load(earlier), history.DefaultAlarms)
		if err != nil {
			return nil, err
		}
		known = h.Spread
	}
	return compare.OfRuns([2][]setup.Setup{setups[:first], setups[first:]}, cm.AnyWorkload, known)
}

func (cm *compareCmd) versus(c *console.Console) *job.Comparison {
	return &job.Comparison{
		Flags: &cm.Flags, Console: c, URLs: cm.Paths, FailIf: cm.FailIf, Lang: lang.Lang(cm.Lang), Plain: cm.Plain,
		Force:      cm.Force,
		CheckFiles: func() error { return cm.Page.CheckFiles(&cm.Tables) },
		Show:       func(r *compare.PairComparison, gates []compare.Gate) error { return cm.show(c, r, gates) },
	}
}

// printAgain prints a comparison of two servers from its directory.
func (cm *compareCmd) printAgain(c *console.Console, dir string) error {
	r, err := job.OpenPair(dir)
	if err != nil {
		return console.Usage(err)
	}
	gates, err := compare.ParseGates(cm.FailIf, r.Keys())
	if err != nil {
		return console.Usage(err)
	}
	if err := cm.show(c, r, gates); err != nil {
		return err
	}
	return job.Verdict(r.Changes, gates)
}

func (cm *compareCmd) show(c *console.Console, r *compare.PairComparison, gates []compare.Gate) error {
	sections := r.Sections(1)
	page := func(w io.Writer, o html.WriteOptions) error {
		return html.Sections(w, "llmsweep compare --live", sections, o)
	}
	if err := cm.WriteWithPage(c, &cm.Tables, r.JSON, sections, page); err != nil {
		return err
	}
	return cm.summarize(c, sections)
}

func (cm *compareCmd) summarize(c *console.Console, sections []table.Section) error {
	var doc bytes.Buffer
	if err := table.WriteSections(&doc, "markdown", sections, table.Style{Lang: lang.Lang(cm.Lang)}); err != nil {
		return err
	}
	c.Summarize(doc.Bytes())
	return nil
}
