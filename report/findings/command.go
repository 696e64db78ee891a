package findings

import (
	"path/filepath"
	"strings"

	"llmsweep/sweep/rundir"
)

// Command returns the command that repeats a run, as a POSIX shell takes it, without the directory of the run, which
// exists. Of a file it has the name alone: directories tell of the machine.
func Command(run *rundir.Run) string {
	var words []string
	args := run.Command.Args
	for i := 0; i < len(args); i++ {
		word := args[i]
		flag, value, joined := strings.Cut(word, "=")
		switch {
		case flag == "--out":
			if !joined {
				i++
			}
			continue
		case filepath.IsAbs(word):
			word = filepath.Base(word)
		case joined && filepath.IsAbs(value):
			word = flag + "=" + filepath.Base(value)
		}
		words = append(words, shellQuote(word))
	}
	return strings.Join(words, " ")
}

func shellQuote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,@%+", r)
	}
	if word != "" && strings.TrimFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
