package job

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"llmsweep/client/probe"
	"llmsweep/client/sim"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report/choose"
	"llmsweep/report/table"
	"llmsweep/sweep/twin"
)

// SimulatedServer returns the simulated server of a name: a preset, or the file of a twin. A twin that failed its check is an error unless it may be unchecked.
func SimulatedServer(c *console.Console, name string, unchecked bool) (sim.MachineConfig, error) {
	if ext := filepath.Ext(name); ext != ".yaml" && ext != ".yml" {
		return sim.Preset(name)
	}
	t, err := twin.Open(name)
	if err != nil {
		return sim.MachineConfig{}, err
	}
	if !t.Passed() && !unchecked {
		return sim.MachineConfig{}, fmt.Errorf("%s failed its held-out check: what it does is not what the server does; fit it again on a quiet machine, or use it anyway with --unchecked", name)
	}
	if !t.Passed() {
		fmt.Fprintln(c.Err, choose.TwinFailed(table.Clean(name), c.Lang))
	}
	return t.Config(), nil
}

// CheckPresets returns an error where a sim: URL names no preset. It reads no file.
func CheckPresets(urls []string) error {
	for _, url := range urls {
		name, ok := strings.CutPrefix(url, sim.Scheme)
		if ext := filepath.Ext(name); !ok || name == "" || ext == ".yaml" || ext == ".yml" {
			continue
		}
		if _, err := sim.Preset(name); err != nil {
			return err
		}
	}
	return nil
}

// checkURL returns what is wrong with the URL of a server, and with the flags that say how to speak to it, without connecting.
func checkURL(c *console.Console, url string, f *flags.Target, conns int) error {
	if preset, ok := strings.CutPrefix(url, sim.Scheme); ok {
		_, err := SimulatedServer(c, cmp.Or(preset, "demo"), f.Unchecked)
		return err
	}
	o, err := f.Options(url, conns)
	if err != nil {
		return err
	}
	p, err := probe.New(o)
	if err != nil {
		return err
	}
	p.Close()
	return nil
}
