// Writes the manual page of all commands and flags from their grammar.

package main

import (
	"fmt"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/manual"

	"strings"

	"github.com/alecthomas/kong"
)

// manPage returns the manual page in the Markdown that md2man reads.
func manPage(app *kong.Application) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%% LLMSWEEP 1 \"\" \"llmsweep %s\" \"User Commands\"\n\n", console.VersionNumber)
	fmt.Fprintf(&b, "# NAME\n\nllmsweep - %s\n\n", strings.TrimSuffix(app.Help, "."))
	b.WriteString("# SYNOPSIS\n\n**llmsweep** *COMMAND* [*FLAGS*] [*ARGUMENTS*]\n\n# COMMANDS\n\n")
	for _, command := range app.Children {
		if !command.Hidden {
			manCommand(&b, command)
		}
	}
	b.WriteString("# FLAGS OF ALL COMMANDS\n\n")
	manFlags(&b, app.Flags)
	b.WriteString("# EXIT STATUS\n\n")
	for _, e := range exitStatus {
		fmt.Fprintf(&b, "**%d**\n: %s\n\n", e.code, e.meaning)
	}
	fmt.Fprintf(&b, "# SEE ALSO\n\n**llmsweep help** *TOPIC* prints a topic of the reference: %s.\n", strings.Join(manual.Topics(), ", "))
	return b.String()
}

// manCommand writes the part of one command: its purpose, its examples and its flags.
func manCommand(b *strings.Builder, command *kong.Node) {
	fmt.Fprintf(b, "## llmsweep %s\n\n%s\n\n", manText(command.Summary()), manText(command.Help))
	if command.Detail != "" {
		fmt.Fprintf(b, "```\n%s\n```\n\n", strings.TrimSpace(command.Detail))
	}
	for _, argument := range command.Positional {
		fmt.Fprintf(b, "*%s*\n: %s\n\n", strings.ToUpper(argument.Name), manText(argument.Help))
	}
	manFlags(b, command.Flags)
}

// manFlags writes a list of flags.
func manFlags(b *strings.Builder, flags []*kong.Flag) {
	for _, f := range flags {
		if !f.Hidden {
			fmt.Fprintf(b, "**%s**\n: %s\n\n", manText(f.String()), manText(f.Help))
		}
	}
}

// manText returns a text in which Markdown finds no markup.
func manText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "<", `\<`, ">", `\>`, "[", `\[`, "]", `\]`, "`", "\\`", "|", `\|`).Replace(s)
}

// exitStatus is what the manual page says of exit codes.
var exitStatus = []struct {
	code    int
	meaning string
}{
	{console.Done, "Done."},
	{console.Failed, "The run failed, or every request in it failed."},
	{console.WrongUsage, "The command line, a file or a URL is wrong."},
	{console.Missed, "The run succeeded; an SLO, or a limit of --fail-if, was missed."},
	{console.Undecided, "The run succeeded; it does not show whether an SLO, or a limit of --fail-if, is met."},
	{console.Interrupted, "Interrupted; what was measured is kept."},
}
