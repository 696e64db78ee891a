package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"llmsweep/client/input"
	"llmsweep/client/redact"
)

// launchLine is a command line whose secrets are replaced by variables.
type launchLine struct {
	Args    []launchArg
	Secrets []launchSecret
	known   []string // secrets that may stand anywhere in it
}

// launchArg is an argument: texts and variables, one after the other.
type launchArg []launchPart

// launchPart is a text, or the name of a variable that holds a secret.
type launchPart struct{ Text, Variable string }

// launchSecret is a secret of the command line.
type launchSecret struct {
	Variable string // that holds it
	From     string // the flag or argument that it was in
}

// Key returns the name of the secret within a Secret of Kubernetes.
func (s launchSecret) Key() string {
	return strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(s.Variable), "llmsweep_"), "_", "-")
}

// Variables that hold secrets.
const (
	keyVariable  = "LLMSWEEP_API_KEY" // read by llmsweep itself
	nextVariable = "LLMSWEEP_SECRET_" // with a number
)

// readLaunch takes the secrets out of a command line: API keys, values of headers, fields of a body that hold a key, what gives access in a URL, and
// keys that are known, wherever they stand.
func readLaunch(args []string, known ...string) launchLine {
	l := launchLine{known: append(keysOf(args), known...)}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !strings.HasPrefix(name, "--") {
			l.add(l.url(args[i]))
			continue
		}
		private := slices.Contains(redact.SecretFlags, name)
		if !private && name != "--header" && name != "--body" {
			l.add(l.url(args[i]))
			continue
		}
		if !joined {
			if i++; i < len(args) {
				value = args[i]
			}
		}
		if private {
			l.hold(keyVariable, name)
			continue
		}
		a := l.body(value)
		if name == "--header" {
			a = l.header(value)
		}
		l.add(append(launchArg{{Text: name + "="}}, a...))
	}
	return l
}

// keysOf returns the values of the flags that hold keys.
func keysOf(args []string) (keys []string) {
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		if slices.Contains(redact.SecretFlags, name) {
			keys = append(keys, value)
		}
	}
	return keys
}

// add adds an argument.
func (l *launchLine) add(a launchArg) { l.Args = append(l.Args, a) }

// hold notes a variable that holds a secret.
func (l *launchLine) hold(variable, from string) {
	if s := (launchSecret{variable, from}); !slices.Contains(l.Secrets, s) {
		l.Secrets = append(l.Secrets, s)
	}
}

// next returns the next variable for a secret.
func (l *launchLine) next(from string) string {
	n := 1
	for _, s := range l.Secrets {
		if strings.HasPrefix(s.Variable, nextVariable) {
			n++
		}
	}
	v := fmt.Sprint(nextVariable, n)
	l.hold(v, from)
	return v
}

func (l *launchLine) header(value string) launchArg {
	name, _, _ := strings.Cut(value, ":")
	return launchArg{{Text: name + ": "}, {Variable: l.next("--header " + name)}}
}

func (l *launchLine) body(value string) launchArg {
	var quoted []string
	for _, s := range slices.Concat(redact.InBody(value), l.known) {
		forms := inJSON(s)
		if !slices.ContainsFunc(forms, func(form string) bool { return strings.Contains(value, form) }) && !slices.Contains(l.known, s) {
			return launchArg{{Variable: l.next("--body")}} // written in another way: the whole body is kept apart
		}
		quoted = append(quoted, forms...)
	}
	return l.split(value, quoted, "--body")
}

// inJSON returns a text as JSON strings may have it: with and without escapes for HTML.
func inJSON(s string) []string {
	escaped, _ := json.Marshal(s) // a string can be encoded
	var plain strings.Builder
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	e.Encode(s)
	inner := func(quoted string) string {
		quoted = strings.TrimSuffix(quoted, "\n")
		return quoted[1 : len(quoted)-1]
	}
	return []string{inner(string(escaped)), inner(plain.String())}
}

func (l *launchLine) url(arg string) launchArg {
	if redact.WithoutCredentials(arg) == arg {
		return l.split(arg, l.known, "the command line")
	}
	return l.split(arg, slices.Concat(redact.InURL(arg), l.known), "URL")
}

// split replaces secrets in a text by variables, the longest first.
func (l *launchLine) split(text string, secrets []string, from string) launchArg {
	const least = 6 // bytes: a shorter key is found in harmless words
	secrets = slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return len(s) < least && slices.Contains(l.known, s) })
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, s := range secrets {
		if before, after, ok := strings.Cut(text, s); ok && s != "" {
			v := launchPart{Variable: l.next(from)}
			return slices.Concat(l.split(before, secrets, from), launchArg{v}, l.split(after, secrets, from))
		}
	}
	if text == "" {
		return nil
	}
	return launchArg{{Text: text}}
}

// fileFlags are the flags that name a file which the ranks read.
var fileFlags = []string{"--dataset", "--tokenizer", "--config", "--ca", "--cert", "--key"}

// files returns the files that the command line names.
func (l *launchLine) files() (names []string) {
	for i := range l.Args {
		name, value, joined := strings.Cut(l.Args[i].text(), "=")
		if !joined && i+1 < len(l.Args) {
			value = l.Args[i+1].text()
		}
		if slices.Contains(fileFlags, name) {
			names = append(names, value)
		}
		if _, file, ok := strings.Cut(l.Args[i].text(), "trace:"); ok {
			names = append(names, file)
		}
	}
	return names
}

// Shell returns an argument as a shell reads it.
func (a launchArg) Shell() string {
	return cmp.Or(a.write(shellWord, `"${%s}"`), "''")
}

// Kubernetes returns an argument as Kubernetes reads it, which replaces $(NAME) by the value of a variable, and $$ by $.
func (a launchArg) Kubernetes() string {
	return a.write(func(text string) string { return strings.ReplaceAll(text, "$", "$$") }, "$(%s)")
}

// write returns an argument with its texts quoted, and its variables in a format.
func (a launchArg) write(quoted func(string) string, variable string) string {
	var b strings.Builder
	for _, p := range a {
		if p.Variable != "" {
			fmt.Fprintf(&b, variable, p.Variable)
		} else {
			b.WriteString(quoted(p.Text))
		}
	}
	return b.String()
}

// text returns an argument without its secrets.
func (a launchArg) text() (text string) {
	for _, p := range a {
		text += p.Text
	}
	return text
}

var loopback = regexp.MustCompile(`^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$`)

// local reports whether a server is named that each machine takes for itself.
func (l *launchLine) local() bool {
	return slices.ContainsFunc(l.Args, func(a launchArg) bool {
		at, _, err := input.ParseAddress(a.text())
		return err == nil && !strings.HasPrefix(a.text(), "--") && loopback.MatchString(at.Base.Hostname())
	})
}

// Key notes that the ranks need the API key of the environment.
func (l *launchLine) Key() { l.hold(keyVariable, keyVariable) }
