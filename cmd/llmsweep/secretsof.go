package main

import (
	"slices"
	"strings"
)

// secrets returns the secrets of the command line, of its configuration file and of the environment. They are found in the text, so that
// they are known also where a command line cannot be parsed.
func (c *console) secrets() []string {
	found := slices.Clone(c.configured)
	for i, a := range c.args {
		name, value, joined := strings.Cut(a, "=")
		next := ""
		if i+1 < len(c.args) {
			next = c.args[i+1]
		}
		if !joined {
			value = next
		}
		switch {
		case slices.Contains(secretFlags, name):
			found = append(found, value)
		case name == "--header":
			found = append(found, headerSecrets(value)...)
			if after := 2; !joined && strings.HasSuffix(strings.TrimSpace(value), ":") && i+after < len(c.args) {
				found = append(found, c.args[i+after]) // --header X-Key: secret, without quotes
			}
		case name == "--body":
			found = append(found, bodySecrets(value)...)
		}
		found = append(found, urlSecrets(a)...)
	}
	keys, urls := secretVariables()
	for _, name := range keys {
		found = append(found, c.env(name))
	}
	for _, name := range urls {
		found = append(found, urlSecrets(c.env(name))...)
	}
	return found
}
