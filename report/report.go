// Package report renders what a run measured: a console table with the answer beneath it, a Markdown document in
// English or Chinese, CSV, JSON, and the formats of other tools. Every rendering begins with []rundir.Run, so a
// directory can be rendered at any time. It computes no metric that was not measured, shows an absent number as n/a and
// not as 0, and never writes to the run directory.
//
// Its packages, bottom up:
//
//	lang table draw       phrases in both languages; one table model; one chart model
//	findings              the columns of stages (columns.go), and sentences made of metrics and notes
//	published audit       formats of other tools: read, written; rows that cannot be right
//	inputs                what is named on a command line: runs and documents
//	setup                 what comparing and choosing need of a run
//	compare choose        configurations side by side; the cheapest for a demand
//	history               what changed from run to run
//	page document         a page of HTML; one document about many configurations
//	progress              a run while it is measured
//
// A new column is one entry of [findings.Columns], a new drawing of the page a file of page, a new format one entry of
// the list in formats.go.
package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
)

// Options say how to render. The zero value is English, as wide as it takes, without colour.
type Options struct {
	Lang  lang.Lang
	Width int    // columns of the terminal; 0: as many as it takes
	Color bool   // escape sequences for colour may be written
	ASCII bool   // draw with ASCII only
	Dir   string // the run directory, to say where the files are; empty: not said

	All         bool     // all rows, columns and notes
	Percentiles []string // names of percentiles to show, such as p50; nil for the usual ones
	SixColumn   published.SixColumnOptions
	OnlyTable   bool      // of a document only the six-column table
	Nearest     bool      // the percentiles of latency are measured values
	Drawings    []Drawing // of a document of one run

	several bool // the document has several runs
}

// Formats lists the names that [Render] knows.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// Render writes runs in the named format.
func Render(w io.Writer, name string, runs []rundir.Run, o Options) error {
	if !slices.Contains([]lang.Lang{"", lang.English, lang.Chinese}, o.Lang) {
		return fmt.Errorf("no language %q: there are %s and %s", o.Lang, lang.English, lang.Chinese)
	}
	all := formats()
	i := slices.IndexFunc(all, func(f format) bool { return f.name == name })
	switch {
	case i < 0:
		return fmt.Errorf("no format %q: there are %s", name, strings.Join(Formats(), ", "))
	case len(runs) == 0:
		return errors.New("there is no run to render")
	}
	return all[i].render(w, runs, o)
}
