package main

import (
	"bytes"
	"time"

	"llmsweep/report/ci"
	"llmsweep/report/compare"
	"llmsweep/report/lang"
	"llmsweep/report/table"
)

// publishGates tells a CI system what a comparison found, and writes --junit.
func (cm *compareCmd) publishGates(c *console, result compare.Judged, gates []compare.Gate, sections func(lang.Lang) []table.Section, whole string) error {
	suite := compare.Checks(time.Now(), result, gates)
	if c.env("GITHUB_ACTIONS")+c.env("GITHUB_STEP_SUMMARY") != "" {
		c.lang = lang.Lang(cm.Lang)
		var doc bytes.Buffer
		if err := table.WriteSections(&doc, "markdown", sections(c.lang), table.Style{}); err != nil {
			return err
		}
		c.publish(doc.Bytes(), whole, suite)
	}
	if cm.JUnit == "" {
		return nil
	}
	f, err := createFile(cm.JUnit)
	if err != nil {
		return usage(err)
	}
	defer f.Close()
	if err := ci.JUnit(f, []ci.Suite{suite}); err != nil {
		return err
	}
	return f.Close()
}
