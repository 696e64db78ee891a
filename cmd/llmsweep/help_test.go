package main

import (
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/cmd/llmsweep/console"
)

// TestHelpFits: --help is short, and no line of it is wider than a terminal; commands and flags take one line each.
func TestHelpFits(t *testing.T) {
	for name, most := range map[string]int{"llmsweep": 40, "sweep": 46, "run": 46, "report": 46, "compare": 46,
		"choose": 46} {
		text := contentOf(t, filepath.Join("testdata/help", name+".txt"))
		if lines := strings.Count(text, "\n"); lines > most {
			t.Errorf("%s --help has %d lines, and %d are the limit", name, lines, most)
		}
		arguments, _, _ := strings.Cut(text, "\nWhat is") // which may have more
		if name == "llmsweep" {
			arguments = ""
		}
		for line := range strings.Lines(text) {
			if len(line) > 81 || strings.HasPrefix(line, strings.Repeat(" ", 9)) && !strings.Contains(arguments, line) {
				t.Errorf("%s --help: %q is too wide, or continues the line above: shorten that", name, line)
			}
		}
	}
}

// TestHiddenFlags: a flag that --help leaves out is listed by llmsweep help COMMAND.
func TestHiddenFlags(t *testing.T) {
	parser, _ := newParser(console.NewConsole(t.Context(), nil, nil), &cli{})
	for _, node := range parser.Model.Children {
		if node.Hidden {
			continue
		}
		_, usage := command(t, node.Name, "--help")
		_, manual := command(t, "help", node.Name)
		for _, f := range node.Flags {
			if f.Hidden && (strings.Contains(usage, "\n  --"+f.Name+"=") || !strings.Contains(manual, "| `--"+f.Name)) {
				t.Errorf("%s --%s: --help has it, or help %s has it not", node.Name, f.Name, node.Name)
			}
		}
	}
}
