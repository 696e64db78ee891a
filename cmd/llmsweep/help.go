package main

import (
	"fmt"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/manual"
	"llmsweep/sweep/rundir"
)

// helpCmd is llmsweep help.
type helpCmd struct {
	Topic string `arg:"" optional:"" name:"topic" predictor:"topic" help:"Topic to explain. Without it: list the topics."`
}

// Help returns what --help prints after the purpose.
func (helpCmd) Help() string {
	return `Examples:
  llmsweep help
  llmsweep help metrics`
}

// Run prints a topic, or the list of topics.
func (h *helpCmd) Run(c *console.Console) error {
	if h.Topic == "" {
		return manual.List(c.Out)
	}
	topic, err := manual.Find(h.Topic)
	if err != nil {
		return console.Usage(err)
	}
	page, err := manual.Page(topic)
	if err != nil {
		return err
	}
	return c.Page(func(width int) string { return manual.Terminal(page, width) }, page)
}

// versionCmd is llmsweep version.
type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(c *console.Console) error {
	_, err := fmt.Fprintln(c.Out, console.VersionText())
	return err
}

// schemaCmd is llmsweep schema.
type schemaCmd struct {
	Name string `arg:"" optional:"" default:"run" enum:"run,records,pair,verdict" help:"Which: run (run.json), records (a line of records.jsonl), pair (pair.json), verdict (of --format verdict). Default: ${default}."`
}

// Help returns what --help prints after the purpose.
func (schemaCmd) Help() string {
	return `Examples:
  llmsweep schema run
  llmsweep schema records`
}

// Run prints the schema.
func (s *schemaCmd) Run(c *console.Console) error {
	b, err := rundir.SchemaOf(s.Name)
	if err != nil {
		return console.Usage(err)
	}
	_, err = c.Out.Write(b)
	return err
}
