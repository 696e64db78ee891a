package target

import (
	"fmt"
	"path/filepath"

	"llmsweep/client/sim"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/table"
	"llmsweep/report/twins"
	"llmsweep/sweep/twin"
)

// Simulated returns the simulated server of a name: a preset, or the file of a twin.
func Simulated(c *console.Console, name string) (sim.Config, error) {
	if ext := filepath.Ext(name); ext != ".yaml" && ext != ".yml" {
		return sim.Preset(name)
	}
	t, err := twin.Open(name)
	if err != nil {
		return sim.Config{}, err
	}
	if t.Check != nil && !t.Check.Passed {
		fmt.Fprintln(c.Err, twins.Failed(table.Clean(name), c.Lang))
	}
	return t.Config(), nil
}
