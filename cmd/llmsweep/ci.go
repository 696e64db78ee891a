package main

import (
	"bytes"
	"time"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report"
	"llmsweep/report/compare"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	"llmsweep/report/table"
)

// publishGates tells a CI system what a comparison found, and writes --junit.
func (cm *compareCmd) publishGates(c *console.Console, result compare.Judged, gates []compare.Gate, sections []table.Section, whole string) error {
	suite := compare.Checks(time.Now(), result, gates)
	if c.Env("GITHUB_ACTIONS")+c.Env("GITHUB_STEP_SUMMARY") != "" {
		c.Lang = lang.Lang(cm.Lang)
		var doc bytes.Buffer
		if err := table.WriteSections(&doc, "markdown", sections, table.Style{Lang: c.Lang}); err != nil {
			return err
		}
		c.Publish(doc.Bytes(), whole, suite)
	}
	if cm.JUnit == "" {
		return nil
	}
	var b bytes.Buffer
	if err := report.WriteJUnit(&b, []report.GateSuite{suite}); err != nil {
		return err
	}
	return console.WriteFiles(cm.Force, inputs.OutputFile{Path: cm.JUnit, Content: b.Bytes(), Comment: inputs.CommentOf("junit")})
}
