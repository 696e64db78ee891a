package report

import (
	"strings"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/table"
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
		{"zh.all.txt", "console", Options{Width: 140, All: true, Lang: lang.Chinese}},
		{"en.80.txt", "console", Options{Width: 80, ASCII: true}},
		{"en.ansi", "console", Options{Width: 100, Color: true}},
		{"csv", "csv", Options{}},
		{"json", "json", Options{}},
	} {
		for name, rs := range runs {
			if name != "swept" && !strings.Contains("console markdown", c.format) {
				continue // the others are tested by reading them again
			}
			checkRendered(t, name+"."+c.file, c.format, rs, c.o)
		}
	}
	checkRendered(t, "swept.grid.md", "markdown", runs["swept"], Options{Lang: lang.Chinese, OnlyTable: true,
		SixColumn: published.SixColumnOptions{OnlyGrid: true, Tokens: "tokens/second"}})
}

// checkRendered compares runs in a format with a golden file. Without --all no line is wider than the terminal.
func checkRendered(t *testing.T, file, format string, runs []rundir.Run, o Options) {
	t.Run(file, func(t *testing.T) {
		text := render(t, format, runs, o)
		testkit.CheckGolden(t, file, []byte(text))
		for line := range strings.Lines(text) {
			if n := table.Width(strings.TrimSuffix(line, "\n")); o.Width > 0 && !o.Color && !o.All && n > o.Width {
				t.Errorf("%d columns in %d: %s", n, o.Width, line)
			}
		}
	})
}

// TestFixedFormats: the formats of other tools, of which only the notes beneath differ by language.
func TestFixedFormats(t *testing.T) {
	for name, runs := range map[string][]rundir.Run{
		"swept": {sweptRun()}, "failed": {failedRun()}, "single": {singleRun()}, "ladder": {ladderRun()},
		"several": {simulatedRun(), singleRun()}, "judged": {judgedRun()}, "whole": {fixture[rundir.Run]("runs/whole.json")},
	} {
		for _, format := range []string{"stress", "serving"} {
			checkRendered(t, name+".en."+format+".txt", format, runs, Options{})
			if name == "ladder" {
				checkRendered(t, name+".zh."+format+".txt", format, runs, Options{Lang: lang.Chinese})
			}
		}
	}
}
