package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report/choose"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	html "llmsweep/report/page"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

type chooseCmd struct {
	Paths []string `arg:"" name:"path" help:"Run directories, directories of those, or published documents."`
	flags.Requirements
	Only         []string `sep:"," placeholder:"K=V" help:"Only results with this model, gpu, gpus, engine, quant." group:"Choice"`
	AnyWorkload  bool     `name:"any-workload" help:"Choose also among results of different workloads." group:"Choice"`
	flags.Tables `set:"formats=console, markdown, json, html"`
	flags.Page
}

func (chooseCmd) Help() string {
	return `Without prices the order is by GPUs.

  llmsweep choose runs --slo 'ttft:p99<1s' --demand 9req/s --prices usd.yaml
  llmsweep choose results.md --slo 'itl:mean<50ms' --demand 5000tok/s

More: llmsweep help choose`
}

func (ch *chooseCmd) Run(c *console.Console) error {
	options, err := ch.Options()
	if err != nil {
		return console.Usage(err)
	}
	options.AnyWorkload = ch.AnyWorkload
	setups, err := ch.setups(c, &options)
	if err != nil {
		return console.Usage(err)
	}
	named := make([]rundir.Labels, len(setups))
	for i := range setups {
		named[i] = setup.Labels(setups[i].Run)
	}
	for _, line := range options.Prices.UnusedLines(named, lang.Lang(ch.Lang)) {
		fmt.Fprintln(c.Err, table.Clean(line))
	}
	choices, err := choose.Of(setups, options)
	if err != nil {
		return console.Usage(err)
	}
	sections := choose.Sections(choices, 1)
	err = ch.WriteWithPage(c, &ch.Tables, func(w io.Writer) error { return choose.JSON(w, choices) }, sections,
		func(w io.Writer, o html.WriteOptions) error {
			return html.Choose(w, choices, setups, options, sections, o)
		})
	switch {
	case err != nil || slices.ContainsFunc(choices, func(ch choose.Choice) bool { return len(ch.Ranked) > 0 }):
		return err
	case slices.ContainsFunc(choices, func(ch choose.Choice) bool { return ch.Undecided() }):
		return console.Exit(console.Undecided, errors.New("")) // the result says why
	}
	return console.Exit(console.Missed, errors.New(""))
}

func (ch *chooseCmd) setups(c *console.Console, o *choose.Options) ([]setup.Setup, error) {
	found, err := inputs.Read(c.Err, ch.Paths)
	if err != nil {
		return nil, err
	}
	if err := inputs.Assess(found, o.Terms); err != nil {
		return nil, err
	}
	setups := setup.LoadWith(found, setup.Options{Lang: ch.Names(), MergeReprints: true})
	if setups, err = choose.FilterSetups(setups, ch.Only); err != nil { // after Load: the audit compares all of them
		return nil, err
	}
	return choose.PoolSweeps(setups, ch.Names()), nil
}
