package main

import (
	"fmt"

	"llmsweep/cmd/llmsweep/console"
)

// versionCmd is llmsweep version.
type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(c *console.Console) error {
	_, err := fmt.Fprintln(c.Out, console.VersionText())
	return err
}
