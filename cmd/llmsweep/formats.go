package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"llmsweep/report"
)

// formatHTML is the format of pages. It is a package of its own, which needs those that package report is tested with.
const formatHTML = "html"

// reportFormats are the formats of llmsweep report.
func reportFormats() []string { return append(report.Formats(), formatHTML, formatSVG, formatPNG) }

// unknownFormat is the error of a --format that does not exist.
func unknownFormat(name string) error {
	return fmt.Errorf("--format %s is unknown; there are %s", filepath.Base(name), strings.Join(report.Formats(), ", "))
}

// The formats of one drawing.
const (
	formatSVG = "svg"
	formatPNG = "png"
)
