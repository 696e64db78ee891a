package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"llmsweep/client/input"
	"llmsweep/client/redact"
	"llmsweep/cmd/llmsweep/console"
)

type configFlag string

// BeforeResolve reads flags from the YAML file. They count where the command line does not set them.
func (configFlag) BeforeResolve(app *kong.Kong, ctx *kong.Context, trace *kong.Path, c *console.Console) error {
	name := string(ctx.FlagValue(trace.Flag).(configFlag))
	if strings.HasPrefix(name, "~") { // --config=~/x: no shell expands that
		name = kong.ExpandPath(name)
	}
	b, err := input.ReadFile(name, maxConfig)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	f, err := parseConfig(name, b)
	if err != nil {
		return err
	}
	if url, ok := f.settings["url"]; ok {
		c.URL = fmt.Sprint(url.value)
	}
	c.Configured = f.secrets()
	if err := f.checkFlags(ctx); err != nil {
		return err
	}
	ctx.AddResolver(f)
	return nil
}

// checkFlags refuses flags that only other commands have.
func (f *configFile) checkFlags(ctx *kong.Context) error {
	command := ctx.Selected()
	if command == nil {
		return nil
	}
	own := map[string]bool{"url": true}
	for _, flag := range ctx.Flags() {
		own[flag.Name] = true
	}
	for _, key := range f.keys() {
		if others := owners(ctx.Model, key); !own[key] && len(others) > 0 {
			return fmt.Errorf("%s:%d: %s has no flag %q; it is one of %s", f.name, f.settings[key].line, command.Name, key,
				strings.Join(others, ", "))
		}
	}
	return nil
}

type configFile struct {
	name     string
	settings map[string]setting
}

type setting struct {
	value any
	line  int
}

// maxConfig is the size of the largest file that is read, in bytes.
const maxConfig = 1 << 20

// parseConfig reads the content of a file of "flag: value" lines. Errors have its name.
func parseConfig(name string, b []byte) (*configFile, error) {
	file, err := parser.ParseBytes(b, 0)
	if err != nil {
		return nil, yamlError(name, err)
	}
	f := &configFile{name, map[string]setting{}}
	for _, doc := range file.Docs {
		switch body := doc.Body.(type) {
		case nil, *ast.NullNode, *ast.CommentGroupNode:
		case *ast.MappingNode:
			for _, v := range body.Values {
				if err := f.add(v); err != nil {
					return nil, err
				}
			}
		case *ast.MappingValueNode:
			if err := f.add(body); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%s:%d: not a YAML file of 'flag: value' lines, such as 'stage-time: 30s'", name,
				body.GetToken().Position.Line)
		}
	}
	return f, nil
}

func (f *configFile) add(v *ast.MappingValueNode) error {
	key, line := v.Key.GetToken().Value, v.Key.GetToken().Position.Line
	if was, twice := f.settings[key]; twice {
		return fmt.Errorf("%s:%d: %q was set before, in line %d", f.name, line, key, was.line)
	}
	var value any
	if err := yaml.NodeToValue(v.Value, &value, yaml.UseOrderedMap()); err != nil {
		return yamlError(f.name, err)
	}
	f.settings[key] = setting{value, line}
	return nil
}

// yamlError is an error of the YAML library in one line, with file and line.
func yamlError(name string, err error) error {
	var e yaml.Error
	if errors.As(err, &e) && e.GetToken() != nil {
		return fmt.Errorf("%s:%d: not YAML: %s", name, e.GetToken().Position.Line, e.GetMessage())
	}
	return fmt.Errorf("%s: not YAML: %s", name, strings.SplitN(err.Error(), "\n", 2)[0])
}

// secrets returns the keys, the values of headers, and what is secret in the URL.
func (f *configFile) secrets() []string {
	var found []string
	for name, s := range f.settings {
		switch {
		case slices.Contains(redact.SecretFlags, "--"+name):
			found = append(found, fmt.Sprint(s.value))
		case name == "header":
			found = append(found, headerSecrets(s.value)...)
		case name == "url":
			found = append(found, redact.InURL(fmt.Sprint(s.value))...)
		}
	}
	return found
}

func headerSecrets(value any) (found []string) {
	switch v := value.(type) {
	case yaml.MapSlice:
		for _, item := range v {
			found = append(found, redact.InHeader(":"+fmt.Sprint(item.Value))...)
		}
	case []any:
		for _, h := range v {
			found = append(found, redact.InHeader(fmt.Sprint(h))...)
		}
	default:
		found = redact.InHeader(fmt.Sprint(v))
	}
	return found
}

// Validate refuses flags that no command has, so that a misspelt one is not ignored silently.
func (f *configFile) Validate(app *kong.Application) error {
	known := map[string]bool{"url": true}
	kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			known[flag.Name] = true
		}
		return next(nil)
	})
	for _, key := range f.keys() {
		if known[key] {
			continue
		}
		text := fmt.Sprintf("%s:%d: there is no flag %q", f.name, f.settings[key].line, key)
		if near, ok := input.Nearest(key, slices.Sorted(maps.Keys(known))); ok {
			return fmt.Errorf("%s; did you mean %q?", text, near)
		}
		return fmt.Errorf("%s; llmsweep COMMAND --help lists the flags", text)
	}
	return nil
}

// keys returns the names of the settings in the order of the file.
func (f *configFile) keys() []string {
	return slices.SortedFunc(maps.Keys(f.settings), func(a, b string) int {
		return f.settings[a].line - f.settings[b].line
	})
}

// Resolve returns the file's value of a flag, nil where it has none. A value that the flag does not take is an error
// with file and line.
func (f *configFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	s, ok := f.settings[flag.Name]
	if !ok || s.value == nil {
		return nil, nil
	}
	v, err := flagValue(flag, s.value)
	if err == nil {
		scratch := reflect.New(flag.Target.Type()).Elem()
		err = flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: kong.Scan().PushTyped(v, kong.FlagValueToken)},
			scratch)
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", f.name, s.line, err)
	}
	return v, nil
}

// flagValue turns a YAML value into one that kong reads: a list for a flag that takes several values, else a text. A
// mapping is a list of key=value (labels, prices), or of key:value (headers), or JSON (the body).
func flagValue(flag *kong.Flag, value any) (any, error) {
	repeated := flag.Target.Kind() == reflect.Slice
	switch v := value.(type) {
	case []any:
		if !repeated {
			return nil, errors.New("it takes one value, not a list")
		}
		return listValue(flag, v)
	case yaml.MapSlice:
		if !repeated {
			if flag.Name != "body" {
				return nil, errors.New("it takes one value, not a mapping")
			}
			b, err := json.Marshal(jsonValue(v))
			return string(b), err
		}
		glue := "="
		if flag.Name == "header" {
			glue = ":"
		}
		var all []any
		for _, item := range v {
			all = append(all, fmt.Sprint(item.Key)+glue+fmt.Sprint(item.Value))
		}
		return listValue(flag, all)
	}
	if repeated && flag.Tag.Sep == noSeparator {
		return []any{fmt.Sprint(value)}, nil
	}
	return fmt.Sprint(value), nil
}

// noSeparator is kong's mark of a flag whose value is never split.
const noSeparator = -1

// listValue returns a list as kong reads it: of numbers where the flag takes numbers, else of texts.
func listValue(flag *kong.Flag, list []any) (any, error) {
	numbers := flag.Target.Type().Elem().Kind() != reflect.String
	all := make([]any, len(list))
	for i, v := range list {
		switch v.(type) {
		case []any, yaml.MapSlice:
			return nil, errors.New("a list of single values is expected")
		}
		all[i] = v
		if !numbers {
			all[i] = fmt.Sprint(v)
		}
	}
	return all, nil
}

// jsonValue turns ordered YAML mappings into what encoding/json takes.
func jsonValue(v any) any {
	switch v := v.(type) {
	case yaml.MapSlice:
		m := map[string]any{}
		for _, item := range v {
			m[fmt.Sprint(item.Key)] = jsonValue(item.Value)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = jsonValue(v[i])
		}
		return list
	}
	return v
}
