package main

import (
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
)

// schemaCmd is llmsweep schema.
type schemaCmd struct {
	Name string `arg:"" optional:"" default:"run" enum:"run,records,pair" help:"Which file: run (run.json), records (a line of records.jsonl), pair (pair.json). Default: ${default}."`
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
