package main

import (
	"fmt"
	"path/filepath"

	"llmsweep/client/sim"
	"llmsweep/report/table"
	"llmsweep/report/twins"
	"llmsweep/sweep/twin"
)

// simulated returns the simulated server of a name: a preset, or the file of a twin.
func simulated(c *console, name string) (sim.Config, error) {
	if ext := filepath.Ext(name); ext != ".yaml" && ext != ".yml" {
		return sim.Preset(name)
	}
	t, err := twin.Open(name)
	if err != nil {
		return sim.Config{}, err
	}
	if t.Check != nil && !t.Check.Passed {
		fmt.Fprintln(c.err, twins.Failed(table.Clean(name), c.lang))
	}
	return t.Config(), nil
}
