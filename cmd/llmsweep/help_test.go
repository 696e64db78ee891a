package main

import (
	"bytes"
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

// TestHiddenFlags: a flag that --help leaves out is listed by llmsweep help COMMAND.
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
	})
}
