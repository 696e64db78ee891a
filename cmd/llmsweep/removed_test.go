package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"llmsweep/cmd/llmsweep/console"
)

// TestRemovedNames: each removed name is refused with one line that names it and what to use, and the grammar has it no
// more.
func TestRemovedNames(t *testing.T) {
	parser, _ := newParser(console.NewConsole(t.Context(), io.Discard, io.Discard), &cli{})
	for name := range removed {
		words := strings.Fields(name)
		args := words
		if strings.HasPrefix(name, "--") {
			args = append([]string{"sweep", "sim:"}, words...)
		} else if words[0] == "run" {
			args = append([]string{"run", "sim:"}, words[1:]...)
		}
		if len(words) == 2 && strings.HasPrefix(name, "--") || len(words) == 3 { // a value that the flag of that command lost
			command := args[0]
			flagged := func(c *kong.Node) bool {
				return c.Name == command && slices.ContainsFunc(c.Flags, func(f *kong.Flag) bool {
					return "--"+
						f.Name == words[len(words)-2]
				})
			}
			if !slices.ContainsFunc(parser.Model.Children, flagged) {
				t.Errorf("%s: %s has no such flag", name, command)
			}
		}
		var out, errOut strings.Builder
		code := execute(args, console.NewConsole(t.Context(), &out, &errOut))
		want := "llmsweep: " + name + " was removed in version " + removedIn + ": "
		if code != console.WrongUsage || !strings.HasPrefix(errOut.String(), want) || strings.Count(errOut.String(),
			"\n") != 1 {
			t.Errorf("%s: exit %d: %s", name, code, errOut.String())
		}
	}
}
