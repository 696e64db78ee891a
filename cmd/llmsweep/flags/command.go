package flags

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"llmsweep/client/redact"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
)

// Command returns what run.json records of the command line: the arguments, and the settings that change each request,
// without their secrets. server is the URL of the measured server, as it was given.
func (t *Target) Command(c *console.Console, server string) rundir.Command {
	r := rundir.Command{Args: append([]string{"llmsweep"}, t.Redact(c.Args)...), Timeout: t.Timeout.Seconds(),
		Proxy: c.ProxyFor(server)}
	if t.Body != "" {
		if body := t.withoutKey(redact.WithoutFields(t.Body)); json.Valid([]byte(body)) {
			r.Body = json.RawMessage(body)
		}
	}
	for _, h := range t.Header {
		name, _, _ := strings.Cut(h, ":")
		r.Headers = append(r.Headers, http.CanonicalHeaderKey(strings.TrimSpace(name)))
	}
	return r
}

// Redact returns a command line without secrets: API keys, values of headers, and user names, passwords and queries in
// URLs.
func (t *Target) Redact(args []string) []string {
	args = slices.Clone(args)
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !strings.HasPrefix(name, "--") {
			args[i] = t.withoutKey(redact.WithoutCredentials(args[i]))
			continue
		}
		if !joined { // the value is the next argument
			if i+1 == len(args) || !slices.Contains(redact.SecretFlags, name) && name != "--header" && name != "--body" {
				continue
			}
			i++
			args[i] = t.withoutKey(redact.SecretsOfFlag(name, args[i]))
			continue
		}
		args[i] = t.withoutKey(name + "=" + redact.SecretsOfFlag(name, value))
	}
	return args
}

// withoutKey replaces the API key, and the values of headers, wherever they appear.
func (t *Target) withoutKey(s string) string {
	s = redact.ReplaceSecrets(s, []string{t.APIKey})
	var others []string
	for _, h := range t.Header {
		others = append(others, redact.InHeader(h)...)
	}
	return redact.HideSecrets(s, others)
}
