package main

import (
	"fmt"
)

// versionCmd is llmsweep version.
type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(c *console) error {
	_, err := fmt.Fprintln(c.out, versionText())
	return err
}
