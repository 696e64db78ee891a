package main

import (
	"errors"
	"strings"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report/history"
	"llmsweep/report/inputs"
	"llmsweep/report/setup"
)

type historyCmd struct {
	Paths        []string `arg:"" optional:"" name:"path" help:"Run directories, or directories of those, in any order."`
	FailNew      bool     `name:"fail-new" help:"Exit code 3 only for what the latest run has shown."`
	Alarms       float64  `default:"0.01" placeholder:"N" positive:"" help:"Expected number of false alarms per round of runs (${default})."`
	flags.Tables `set:"formats=console, markdown, json"`
}

func (historyCmd) Help() string {
	return `Exit code 3: something became worse.

Examples:
  llmsweep history bench/nights
  llmsweep history bench/nights --fail-new

More: llmsweep help history`
}

func (h *historyCmd) Run(c *console.Console) error {
	if len(h.Paths) == 0 {
		return console.Usage(errors.New("history needs run directories, or a directory that holds them, for example: " +
			"llmsweep history bench/nights"))
	}
	if h.Alarms > 1 {
		return console.Usage(errors.New("--alarms is at most 1: the expected number of false alarms after each round of " +
			"runs"))
	}
	found, err := inputs.Read(c.Err, h.Paths)
	if err != nil {
		return console.Usage(err)
	}
	result, err := history.Analyze(setup.LoadWith(found, setup.Options{Lang: h.Names()}), h.Alarms)
	if err != nil {
		return console.Usage(err)
	}
	if err := h.Write(c, result.JSON, result.Sections(), nil); err != nil {
		return err
	}
	if worse := result.Regressions(h.FailNew); len(worse) > 0 {
		return console.Exit(console.Missed, errors.New(strings.Join(worse, "; ")))
	}
	return nil
}
