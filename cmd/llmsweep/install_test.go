package main

import (
	"io"
	"strings"
	"testing"

	"llmsweep/cmd/llmsweep/console"

	"github.com/alecthomas/kong"
)

// TestManPageIsComplete looks up each command, flag and exit code in the manual page.
func TestManPageIsComplete(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	c := console.NewConsole(t.Context(), &page, io.Discard)
	if code := executeAgain([]string{"man"}, c); code != console.Done {
		t.Fatalf("exit %d", code)
	}
	text := strings.ReplaceAll(page.String(), `\-`, "-")
	if !strings.HasPrefix(text, ".nh\n.TH LLMSWEEP 1") {
		t.Errorf("begins with %.60q", text)
	}
	var grammar cli
	parser, _ := newParser(c, &grammar)
	var flags func(node *kong.Node)
	flags = func(node *kong.Node) {
		for _, f := range node.Flags {
			if !f.Hidden && !strings.Contains(text, "--"+f.Name) {
				t.Errorf("no --%s of %s", f.Name, node.Name)
			}
		}
		for _, child := range node.Children {
			if child.Hidden {
				if strings.Contains(text, "llmsweep "+child.Name) {
					t.Errorf("has the hidden command %s", child.Name)
				}
				continue
			}
			if !strings.Contains(text, "llmsweep "+child.Name) {
				t.Errorf("no command %s", child.Name)
			}
			flags(child)
		}
	}
	flags(parser.Model.Node)
	if strings.Contains(text, `\*`) || strings.Contains(text, "${") {
		t.Error("has markup that was not rendered")
	}
}
