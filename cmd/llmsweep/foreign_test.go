package main

import (
	"strings"
	"testing"

	"llmsweep/cmd/llmsweep/console"
)

// TestForeignFlags: each flag of another tool leads to a flag that a command has, or to a sentence, and is no flag of
// run or sweep itself.
func TestForeignFlags(t *testing.T) {
	parser, _ := newParser(console.NewConsole(t.Context(), nil, nil), &cli{})
	seen := map[string]bool{}
	for _, f := range foreignFlags {
		if (f.flag == "") == (f.note == "") {
			t.Errorf("%v: give a flag or a note", f.names)
		}
		if f.flag != "" && len(owners(parser.Model, f.flag)) == 0 {
			t.Errorf("%v: no command has --%s", f.names, f.flag)
		}
		for _, name := range f.names {
			if seen[name] {
				t.Errorf("--%s stands twice", name)
			}
			seen[name] = true
			for _, command := range []string{"run", "sweep"} {
				args := []string{command, "sim:", strings.Repeat("-", min(len(name), 2)) + name, "7"}
				_, err := parser.Parse(args)
				if err == nil || !strings.HasPrefix(err.Error(), "unknown flag") {
					t.Errorf("%s %s is not unknown: %v", command, name, err)
					continue
				}
				said := explainForeign(err, parser.Model, args).Error()
				if strings.Contains(said, "did you mean") || strings.Contains(said, "VALUE") || f.flag != "" &&
					!strings.Contains(said, "--"+f.flag) {
					t.Errorf("%s %s: %s", command, name, said)
				}
			}
		}
	}
}
