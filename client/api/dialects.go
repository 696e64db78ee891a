package api

import (
	"fmt"
	"strings"
)

// dialects returns all dialects.
func dialects() []Dialect {
	return []Dialect{openAI{chat: true}, openAI{}, responses{}, messages{}, sglangAPI{}}
}

// Names returns the names that --api takes, without "auto".
func Names() []string {
	var names []string
	for _, d := range dialects() {
		names = append(names, d.Name())
	}
	return names
}

// DialectByName returns the dialect with the name that --api takes. The error lists all names.
func DialectByName(name string) (Dialect, error) {
	for _, d := range dialects() {
		if d.Name() == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("--api %s: no such API; there are %s", name, strings.Join(Names(), ", "))
}
