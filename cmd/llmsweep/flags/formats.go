package flags

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"llmsweep/report"
)

// FormatHTML is the format of pages. It is a package of its own, which needs those that package report is tested with.
const FormatHTML = "html"

// ReportFormats returns the formats of llmsweep report.
func ReportFormats() []string { return append(report.Formats(), FormatHTML, FormatSVG) }

// UnknownFormat returns the error of a --format that does not exist.
func UnknownFormat(name string) error {
	return fmt.Errorf("--format %s is unknown; there are %s", filepath.Base(name), strings.Join(report.Formats(), ", "))
}

// FormatVerdict is the format of conclusions, for programs.
const FormatVerdict = "verdict"

// Verdict holds --json, of commands that have --format verdict.
type Verdict struct {
	JSON verdictJSON `name:"json" help:"Print a verdict for programs: --format verdict."`
}

// verdictJSON is --json: --format verdict by a shorter name.
type verdictJSON bool

// BeforeApply sets --format, and refuses --json beside another one.
func (verdictJSON) BeforeApply(ctx *kong.Context, given *kong.Path) error {
	if !bool(ctx.FlagValue(given.Flag).(verdictJSON)) {
		return nil
	}
	flags := ctx.Flags()
	format := flags[slices.IndexFunc(flags, func(f *kong.Flag) bool { return f.Name == "format" })]
	for _, p := range ctx.Path {
		if p.Flag != format {
			continue
		}
		if name := fmt.Sprint(ctx.FlagValue(format)); name != FormatVerdict {
			return fmt.Errorf("--json is --format verdict, and --format %s is given too: leave out one of them", name)
		}
	}
	format.Target.SetString(FormatVerdict)
	return nil
}

// FormatSVG is the format of one drawing.
const FormatSVG = "svg"
