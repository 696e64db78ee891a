package main

import (
	"fmt"

	"llmsweep/report/ci"
)

// publish tells the CI system that runs llmsweep what was found: GitHub's annotations, and the summary of the step. Neither changes the
// result: where a summary cannot be written, that is said. whole names what has the whole report.
func (c *console) publish(doc []byte, whole string, suites ...ci.Suite) {
	if c.env("GITHUB_ACTIONS") == "true" {
		ci.Annotations(c.err, suites, c.lang)
	}
	if file := c.env("GITHUB_STEP_SUMMARY"); file != "" {
		if err := ci.AppendSummary(file, append([]byte("\n"), doc...), whole, c.lang); err != nil {
			fmt.Fprintf(c.err, "llmsweep: the summary of the CI step was not written: %v\n", err)
		}
	}
}
