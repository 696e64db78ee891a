package flags

import (
	"fmt"
	"path/filepath"
	"strings"

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

// FormatSVG is the format of one drawing.
const FormatSVG = "svg"
