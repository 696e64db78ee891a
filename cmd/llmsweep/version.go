package main

import (
	"fmt"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/version"
)

// versionCmd is llmsweep version.
type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(c *console.Console) error {
	_, err := fmt.Fprintln(c.Out, version.Text())
	return err
}
