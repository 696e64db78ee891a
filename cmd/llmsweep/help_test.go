package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/cmd/llmsweep/console"
)

// TestHelpFits: --help is short, and no line of it is wider than a terminal; commands and flags take one line each.
func TestHelpFits(t *testing.T) {
	for name, most := range map[string]int{"llmsweep": 40, "sweep": 46, "run": 46, "report": 46, "compare": 46,
		"choose": 46} {
		b, err := os.ReadFile(filepath.Join("testdata/help", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(b, []byte("\n")); lines > most {
			t.Errorf("%s --help has %d lines, and %d are the limit", name, lines, most)
		}
		_, listed, _ := strings.Cut(string(b), "\nWhat is") // after the arguments, which may have more
		if name == "llmsweep" {
			listed = string(b)
		}
		for line := range strings.Lines(listed) {
			if strings.HasPrefix(line, strings.Repeat(" ", 9)) {
				t.Errorf("%s --help goes on in a second line: %q", name, line)
			}
		}
		for line := range strings.Lines(string(b)) {
			if len(line) > 81 {
				t.Errorf("%s --help: %q is too wide", name, line)
			}
		}
	}
}

// TestHiddenFlags: a flag that --help leaves out is listed by llmsweep help COMMAND, taken from a configuration file,
// and named as the flag of its commands where another has none.
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
		if _, _, errs := w.llmsweep("report", "--drain", "3s"); !strings.Contains(errs,
			"report has none; it is a flag of sweep, run") {
			t.Error(errs)
		}
		other := w.write("other.yaml", "dataset-rows: 7\n")
		if _, _, errs := w.llmsweep("report", "--config", other); !strings.Contains(errs,
			fmt.Sprintf("%s:1: report has no flag", other)) {
			t.Error(errs)
		}
	})
}
