package job

import (
	"cmp"
	"strings"

	"llmsweep/client/probe"
	"llmsweep/client/sim"
	"llmsweep/cmd/llmsweep/flags"
)

// CheckPresets returns an error where a sim: URL names no preset.
func CheckPresets(urls []string) error {
	for _, url := range urls {
		name, ok := strings.CutPrefix(url, sim.Scheme)
		if !ok || name == "" {
			continue
		}
		if _, err := sim.Preset(name); err != nil {
			return err
		}
	}
	return nil
}

// checkURL returns what is wrong with the URL of a server, and with the flags that say how to speak to it, without connecting.
func checkURL(url string, f *flags.Target, conns int) error {
	if preset, ok := strings.CutPrefix(url, sim.Scheme); ok {
		_, err := sim.Preset(cmp.Or(preset, "demo"))
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
