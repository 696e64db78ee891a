package main

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
)

// checkPositive refuses flags with the tag "positive" that were given a value that is not a number above 0. Without the
// flag their value is 0, which stands for the default.
func checkPositive(parsed *kong.Context) error {
	for _, p := range parsed.Path {
		f := p.Flag
		if f == nil || !f.Tag.Has("positive") {
			continue
		}
		v := f.Target
		ok := true
		switch v.Kind() {
		case reflect.Float64:
			ok = v.Float() > 0 && !math.IsInf(v.Float(), 0)
		case reflect.Int, reflect.Int64:
			ok = v.Int() > 0
		}
		if !ok {
			return fmt.Errorf("--%s %v: it must be a number above 0", f.Name, v.Interface())
		}
	}
	return nil
}

// phrasings are kong's errors about values, and what to print instead.
var phrasings = []struct {
	kong  *regexp.Regexp
	plain string
}{
	{regexp.MustCompile(`: missing value, expecting .*$`), " needs a value"},
	{regexp.MustCompile(`expected a valid \d+ bit u?int but got (.*)$`), "$1 is not a whole number"},
	{regexp.MustCompile(`expected a float but got (.*?)(?: \(string\))?$`), "$1 is not a number"},
	{regexp.MustCompile(`expected duration but got ("[^"]*").*$`),
		"$1 is not a time; write one with its unit, such as 30s, 5m or 1h"},
	{regexp.MustCompile(` can't be used together$`), " contradict each other: give one of them"},
}

// dashValue matches what kong says of a value that begins with a dash.
var dashValue = regexp.MustCompile(`^(--[a-z-]+): .* but got "(-[^"]*)" \(.*\); perhaps try .*$`)

// unknownCommand matches what kong says of an unknown command.
var unknownCommand = regexp.MustCompile(`^unexpected argument (.*?)(?:, did you mean (".*")\?)?$`)

// missingArgument matches what kong says of a missing argument.
var missingArgument = regexp.MustCompile(`^expected "<([a-z]+)>`)

// explainMissing says which argument a command needs, with one of its examples.
func explainMissing(err error) error {
	var failed *kong.ParseError
	m := missingArgument.FindStringSubmatch(err.Error())
	if m == nil || !errors.As(err, &failed) || failed.Context == nil || failed.Context.Selected() == nil {
		return err
	}
	command := failed.Context.Selected()
	text := fmt.Sprintf("%s needs a %s", command.Name, strings.ToUpper(m[1]))
	for line := range strings.Lines(command.Detail) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "llmsweep "+command.Name+" ") {
			return errors.New(text + ", for example: " + line)
		}
	}
	return fmt.Errorf("%s; llmsweep %s --help has more", text, command.Name)
}

// plainError puts some of kong's errors into plain words. first is the first argument.
func plainError(err error, first string) error {
	err = explainMissing(err)
	if m := unknownCommand.FindStringSubmatch(err.Error()); m != nil && m[1] == first {
		if m[2] != "" {
			return fmt.Errorf("there is no command %q; did you mean %s?", first, m[2])
		}
		return fmt.Errorf("there is no command %q; llmsweep --help lists the commands", first)
	}
	if m := dashValue.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("%s has no value: %s looks like another flag; a value that begins with a dash is written %s=%s",
			m[1], m[2], m[1], m[2])
	}
	text := err.Error()
	if m := unknownFlag.FindStringSubmatch(text); m != nil && (m[1] == "-" || text == "unknown flag "+m[1]+m[2]) {
		return fmt.Errorf("unknown flag %s%s; llmsweep %s --help lists the flags", m[1], m[2], first)
	}
	for _, p := range phrasings {
		text = p.kong.ReplaceAllString(text, p.plain)
	}
	if text != err.Error() {
		return errors.New(text)
	}
	return err
}
