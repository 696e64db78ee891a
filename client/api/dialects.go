package api

import (
	"fmt"
	"strings"
)

// Auto is what --api takes to have the preflight choose the dialect.
const Auto = "auto"

// Dialects returns all dialects, in the order in which --api auto tries them. The first is the default.
func Dialects() []Dialect {
	return []Dialect{openAI{chat: true}, openAI{}, responses{}, messages{}, sglangAPI{}}
}

// Default returns the name of the dialect that is used where none is named.
func Default() string { return Dialects()[0].Name() }

// Names returns the names that --api takes, without "auto".
func Names() []string {
	var names []string
	for _, d := range Dialects() {
		names = append(names, d.Name())
	}
	return names
}

// DialectByName returns a dialect by its name in --api. The error lists all names.
func DialectByName(name string) (Dialect, error) {
	for _, d := range Dialects() {
		if d.Name() == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("--api %s: no such API; there are %s", name, strings.Join(Names(), ", "))
}
