package main

import (
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/sweep"
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

// The times of a sweep in README and manual are those that a dry run prints, within a third.
func TestTimesInTexts(t *testing.T) {
	c := sweep.Defaults()
	o := job.Outlooks(&c)
	times := regexp.MustCompile(`(\d+)-(\d+) (?:minutes|分钟)(?s:.{1,60}?)(\d+)-(\d+) (?:where|分钟)`)
	for name, text := range map[string]string{
		"README": readme(t), "README.zh": contentOf(t, "manual/README.zh.md"), "sweep": manualPage(t, "sweep"),
	} {
		found := times.FindStringSubmatch(text)
		if found == nil {
			t.Errorf("%s does not say how long a sweep takes", name)
			continue
		}
		for i, want := range []time.Duration{o[0].Takes[0], o[0].Takes[1], o[1].Takes[0], o[1].Takes[1]} {
			if got, _ := strconv.ParseFloat(found[1+i], 64); math.Abs(got/want.Minutes()-1) > 1./3 {
				t.Errorf("%s says %s minutes, and it takes %.1f: llmsweep sweep URL --dry-run prints all", name, found[1+i],
					want.Minutes())
			}
		}
	}
}
