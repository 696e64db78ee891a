package main

import "strings"

// shellWords splits a command line as a shell does, without variables and expansions. A comment ends it.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	started := false
	end := func() {
		if started {
			words = append(words, word.String())
		}
		word.Reset()
		started = false
	}
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, started = c, true
		// a comment, or what another program does
		case quote == 0 && (c == '#' || c == '|' || c == '>' || c == '&') && !started:
			return words
		case quote == 0 && c == ' ':
			end()
		default:
			word.WriteRune(c)
			started = true
		}
	}
	end()
	return words
}
