package main

import (
	"errors"
	"fmt"
	"slices"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/check"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/record"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// checkCmd is llmsweep check.
type checkCmd struct {
	Traffic string `arg:"" optional:"" help:"Directory of a recording (llmsweep record) that was made while the other tool ran, and held nothing else."`
	Result  string `arg:"" optional:"" help:"The other tool's result: a file that llmsweep import reads, or a run directory."`
	Format  string `default:"console" enum:"console,markdown,json" placeholder:"NAME" help:"console, markdown or json (${default})."`
	Lang    string `default:"en" enum:"en,zh" placeholder:"en|zh" help:"Language: en or zh. Default: zh where LANG starts with zh, else en."`
	Plain   bool   `help:"No colour."`
}

// Help returns what --help prints after the purpose.
func (checkCmd) Help() string {
	return `Exit codes: 0 all figures agree or are defined otherwise; 1 a figure differs; 2 a path could not be read.

Examples:
  llmsweep record http://localhost:8000 --check --out traffic    # then let the other tool measure http://127.0.0.1:9000, and press Ctrl-C
  llmsweep check traffic results.json
  llmsweep check traffic results.json --format markdown --lang zh

More: llmsweep help record`
}

// Run checks.
func (k *checkCmd) Run(c *console.Console) error {
	if k.Traffic == "" || k.Result == "" {
		return console.Usage(errors.New("check needs a recording and a result, for example: llmsweep check traffic results.json"))
	}
	result, err := k.check(c)
	if err != nil {
		return console.Usage(err)
	}
	if k.Format == "json" {
		err = table.WriteJSON(c.Out, result)
	} else {
		o := c.Options(k.Lang, k.Plain, "")
		err = table.WriteSections(c.Out, k.Format, check.Sections(result), table.Style{Lang: lang.Lang(k.Lang), Color: o.Color, Width: o.Width})
	}
	if err == nil && result.Differs() {
		return console.Exit(console.Failed, errors.New("")) // everything has been printed
	}
	return err
}

// check reads both and compares them.
func (k *checkCmd) check(c *console.Console) (*check.Result, error) {
	recorded, err := store.Open(k.Traffic)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(recorded.Stages, func(s rundir.Stage) bool { return s.Kind == record.KindRecorded }) {
		return nil, fmt.Errorf("%s holds no recorded traffic: the first argument is a directory of llmsweep record --check", k.Traffic)
	}
	wire, err := check.Read(recorded, store.Records(k.Traffic), store.Traffic(k.Traffic))
	if err != nil {
		return nil, err
	}
	found, err := inputs.Path(c.Err, k.Result)
	if err != nil {
		return nil, err
	}
	var runs []*rundir.Run
	for _, f := range found {
		runs = append(runs, f.Run)
	}
	result, err := check.Compare(runs, wire)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Traffic, err)
	}
	return result, nil
}
