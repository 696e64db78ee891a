package console

import (
	"fmt"

	"llmsweep/report"
)

// Publish tells the CI system that runs llmsweep what was found: GitHub's annotations, and the summary of the step. Neither changes the
// result: where a summary cannot be written, that is said. whole names what has the whole report.
func (c *Console) Publish(doc []byte, whole string, suites ...report.GateSuite) {
	if c.world.Env("GITHUB_ACTIONS") == "true" {
		report.GateAnnotations(c.Err, suites, c.Lang)
	}
	if file := c.world.Env("GITHUB_STEP_SUMMARY"); file != "" {
		if err := report.AppendSummary(file, append([]byte("\n"), doc...), whole, c.Lang); err != nil {
			fmt.Fprintf(c.Err, "llmsweep: the summary of the CI step was not written: %v\n", err)
		}
	}
}
