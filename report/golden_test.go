package report

import (
	"bytes"
	"strings"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

func TestGolden(t *testing.T) {
	runs := map[string][]rundir.Run{
		"swept":       {sweptRun()},
		"failed":      {failedRun()},
		"interrupted": {interruptedRun()},
		"single":      {singleRun()},
		"empty":       {blankRun()},
		"promised":    {promisedRun()},
		"judged":      {judgedRun()},
		"several":     {simulatedRun(), interruptedRun()},
	}
	for _, c := range []struct {
		file, format string
		o            Options
	}{
		{"en.md", "markdown", Options{}},
		{"zh.md", "markdown", Options{Lang: lang.Chinese}},
		{"en.140.txt", "console", Options{Width: 140, Dir: "llmsweep-run"}},
		{"en.all.txt", "console", Options{Width: 140, All: true}},
		{"zh.140.txt", "console", Options{Width: 140, Lang: lang.Chinese}},
		{"en.80.txt", "console", Options{Width: 80, ASCII: true}},
		{"en.ansi", "console", Options{Width: 100, Color: true}},
		{"csv", "csv", Options{}},
		{"json", "json", Options{}},
	} {
		for name, rs := range runs {
			if name != "swept" && !strings.Contains("console markdown", c.format) {
				continue // the others are tested by reading them again
			}
			t.Run(name+"."+c.file, func(t *testing.T) {
				var b bytes.Buffer
				if err := Render(&b, c.format, rs, c.o); err != nil {
					t.Fatal(err)
				}
				testkit.CheckGolden(t, name+"."+c.file, b.Bytes())
			})
		}
	}
}
