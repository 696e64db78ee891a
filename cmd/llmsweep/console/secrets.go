package console

import (
	"slices"
	"strings"

	"llmsweep/client/redact"
)

// secrets returns the secrets of the command line, of its configuration file and of the environment. It does not parse
// the command line, which may be wrong.
func (c *Console) secrets() []string {
	found := slices.Clone(c.Configured)
	for i, a := range c.Args {
		name, value, joined := strings.Cut(a, "=")
		if !joined && i+1 < len(c.Args) {
			value = c.Args[i+1]
		}
		switch {
		case slices.Contains(redact.SecretFlags, name):
			found = append(found, value)
		case name == "--header":
			found = append(found, redact.InHeader(value)...)
			if !joined && strings.HasSuffix(strings.TrimSpace(value), ":") && i+2 < len(c.Args) {
				found = append(found, c.Args[i+2]) // --header X-Key: secret, without quotes
			}
		case name == "--body":
			found = append(found, redact.InBody(value)...)
		}
		found = append(found, redact.InURL(a)...)
	}
	keys, urls := redact.SecretVariables()
	for _, name := range keys {
		found = append(found, c.world.Env(name))
	}
	for _, name := range urls {
		found = append(found, redact.InURL(c.world.Env(name))...)
	}
	return found
}
