package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"llmsweep/cmd/llmsweep/console"
)

// TestRemovedNames: each removed name is refused with one line that names it and what to use, and the grammar has it no
// more.
func TestRemovedNames(t *testing.T) {
	parser, _ := newParser(console.NewConsole(t.Context(), nil, nil), &cli{})
	for name := range removed {
		words := strings.Fields(name)
		args := words
		if strings.HasPrefix(name, "--") {
			args = append([]string{"sweep", "sim:", "--dry-run"}, words...) // a name that is there again ends soon
		} else if words[0] == "run" {
			args = append([]string{"run", "sim:", "--dry-run"}, words[1:]...)
		}
		if len(words) == 2 && strings.HasPrefix(name, "--") || len(words) == 3 { // a value that the flag of that command lost
			flag := strings.TrimPrefix(words[len(words)-2], "--")
			if !slices.ContainsFunc(parser.Model.Children, func(c *kong.Node) bool {
				return c.Name == args[0] && slices.ContainsFunc(c.Flags, func(f *kong.Flag) bool { return f.Name == flag })
			}) {
				t.Errorf("%s: %s has no such flag", name, args[0])
			}
		}
		code, text := command(t, args...)
		want := "llmsweep: " + name + " was removed in version " + removedIn + ": "
		if code != console.WrongUsage || !strings.HasPrefix(text, want) || strings.Count(text, "\n") != 1 {
			t.Errorf("%s: exit %d: %s", name, code, text)
		}
	}
}
