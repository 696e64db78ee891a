package findings

import (
	"slices"
	"strings"

	"llmsweep/sweep/rundir"
)

// RepeatCommand returns the command of a run with another value of a flag, and without its directory, which exists;
// empty where the command is not known.
func RepeatCommand(run *rundir.Run, flag, value string) string {
	args := slices.Clone(run.Command.Args)
	if len(args) == 0 {
		return ""
	}
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i], "=")
		switch {
		case name != "--out" && name != flag:
			continue
		case joined || i+1 == len(args):
			args = slices.Delete(args, i, i+1)
		default:
			args = slices.Delete(args, i, i+2)
		}
		i--
	}
	if flag != "" {
		args = append(args, flag, value)
	}
	return CommandLine(args)
}

// CommandLine returns arguments as a POSIX shell takes them.
func CommandLine(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = shellQuote(a)
	}
	return strings.Join(words, " ")
}

func shellQuote(a string) string {
	if a != "" && !strings.ContainsFunc(a, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+",
			r))
	}) {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}
