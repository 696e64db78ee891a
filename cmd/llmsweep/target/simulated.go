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

// Simulated returns the simulated server of a name: a preset, or the file of a twin. A twin that failed its check is an error unless it may be unchecked.
func Simulated(c *console.Console, name string, unchecked bool) (sim.Config, error) {
	if ext := filepath.Ext(name); ext != ".yaml" && ext != ".yml" {
		return sim.Preset(name)
	}
	t, err := twin.Open(name)
	if err != nil {
		return sim.Config{}, err
	}
	if !t.Passed() && !unchecked {
		return sim.Config{}, fmt.Errorf("%s failed its held-out check: what it does is not what the server does; fit it again on a quiet machine, or use it anyway with --unchecked", name)
	}
	if !t.Passed() {
		fmt.Fprintln(c.Err, twins.Failed(table.Clean(name), c.Lang))
	}
	return t.Config(), nil
}
