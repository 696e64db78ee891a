package main

import (
	"fmt"
	"strings"
	"testing"

	"llmsweep/cmd/llmsweep/console"
)

// TestHelpFits: sweep and run show at most 45 flags in six groups besides the global ones.
func TestHelpFits(t *testing.T) {
	const most, groups = 45, 6
	parser, _ := newParser(console.NewConsole(t.Context(), nil, nil), &cli{})
	for _, command := range parser.Model.Children {
		if command.Name != "sweep" && command.Name != "run" {
			continue
		}
		shown, seen := len(parser.Model.Flags), map[string]bool{}
		for _, f := range command.Flags {
			if !f.Hidden {
				shown++
				seen[f.Group.Title] = true
			}
		}
		if shown > most || len(seen) > groups {
			t.Errorf("%s --help shows %d flags in %d groups", command.Name, shown, len(seen))
		}
	}
}

// TestHiddenFlags: a flag that --help leaves out is listed by llmsweep help COMMAND, taken from a configuration file, and named as
// the flag of its commands where another has none.
func TestHiddenFlags(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		parser, _ := newParser(console.NewConsole(t.Context(), nil, nil), &cli{})
		for _, command := range parser.Model.Children {
			if command.Hidden {
				continue
			}
			var usage, manual string
			for _, f := range command.Flags {
				if !f.Hidden {
					continue
				}
				if usage == "" {
					usage, _ = w.must(command.Name, "--help")
					manual, _ = w.must("help", command.Name)
				}
				if strings.Contains(usage, "\n  --"+f.Name+"=") || !strings.Contains(manual, "| `--"+f.Name) {
					t.Errorf("%s --%s: --help has it, or help %s has it not", command.Name, f.Name, command.Name)
				}
			}
		}
		config := w.write("hidden.yaml", "drain: 3s\ndataset-rows: 7\n")
		w.must(append([]string{"run", "sim:", "--config", config, "--out", w.path("run")}, shortRun...)...)
		if _, _, errs := w.llmsweep("report", "--drain", "3s"); !strings.Contains(errs, "report has none; it is a flag of sweep, run") {
			t.Error(errs)
		}
		other := w.write("other.yaml", "dataset-rows: 7\n")
		if _, _, errs := w.llmsweep("report", "--config", other); !strings.Contains(errs, fmt.Sprintf("%s:1: report has no flag", other)) {
			t.Error(errs)
		}
	})
}
