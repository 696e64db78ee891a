package flags

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"llmsweep/report"
)

// FormatHTML is the format of pages, which package page writes.
const FormatHTML = "html"

// ReportFormats returns the formats of llmsweep report.
func ReportFormats() []string { return append(report.Formats(), FormatHTML, FormatSVG) }

// CheckFormat refuses a --format that is none of the formats.
func CheckFormat(name string, formats []string) error {
	if slices.Contains(formats, name) {
		return nil
	}
	return fmt.Errorf("--format %s is unknown; there are %s", filepath.Base(name), strings.Join(formats, ", "))
}

// FormatSVG is the format of one drawing.
const FormatSVG = "svg"
