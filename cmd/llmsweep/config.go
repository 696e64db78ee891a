package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"
)

// yamlFlags reads flags from a YAML file of "flag: value" lines.
func yamlFlags(r io.Reader) (kong.Resolver, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	values := fileFlags{}
	if err := yaml.Unmarshal(b, &values); err != nil {
		return nil, fmt.Errorf("not YAML: %s", strings.SplitN(err.Error(), "\n", 2)[0])
	}
	return values, nil
}

// fileFlags are flags by name.
type fileFlags map[string]any

// Validate refuses a flag that no command has: a misspelt setting must not be ignored in silence.
func (f fileFlags) Validate(app *kong.Application) error {
	known := map[string]bool{}
	kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			known[flag.Name] = true
		}
		return next(nil)
	})
	for name := range f {
		if !known[name] {
			names := []string{}
			for k := range known {
				names = append(names, k)
			}
			slices.Sort(names)
			return fmt.Errorf("the configuration file sets %q, which is no flag; there are: %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

// Resolve returns the file's value for a flag. A list becomes several values.
func (f fileFlags) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	switch v := f[flag.Name].(type) {
	case nil:
		return nil, nil
	case []any:
		parts := make([]string, len(v))
		for i, p := range v {
			parts[i] = fmt.Sprint(p)
		}
		return strings.Join(parts, string(flag.Tag.Sep)), nil
	case map[string]any:
		return nil, fmt.Errorf("%q takes one value, not a mapping", flag.Name)
	default:
		return fmt.Sprint(v), nil
	}
}
