// Package dialects is the list of all APIs, by the names that --api takes.
package dialects

import (
	"fmt"
	"slices"
	"strings"

	"llmsweep/client/api"
	"llmsweep/client/api/anthropic"
	"llmsweep/client/api/native"
	"llmsweep/client/api/openai"
)

// all returns all dialects.
func all() []api.Dialect {
	return slices.Concat(openai.Dialects(), anthropic.Dialects(), native.Dialects())
}

// Names returns the names that --api takes, without "auto".
func Names() []string {
	var names []string
	for _, d := range all() {
		names = append(names, d.Name())
	}
	return names
}

// ByName returns the dialect with the name that --api takes. The error lists all names.
func ByName(name string) (api.Dialect, error) {
	for _, d := range all() {
		if d.Name() == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("--api %s: no such API; there are %s", name, strings.Join(Names(), ", "))
}
