package job

import (
	"strings"

	"llmsweep/client/sim"
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
