package main

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"slices"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report/choose"
	html "llmsweep/report/page"
	"llmsweep/report/plans"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/twin"
)

var (
	errBesideDirs   = errors.New("--twin takes one run directory")
	errBesideFormat = errors.New("--twin prints console, markdown, csv, json or html")
)

// beside prints what a twin predicts of the run, beside what was measured.
func (r *reportCmd) beside(c *console.Console) error {
	if len(r.Dirs) != 1 {
		return console.Usage(errBesideDirs)
	}
	t, err := twin.Open(r.Twin)
	if err != nil {
		return console.Usage(err)
	}
	found, err := twin.Compare(t, r.Dirs[0])
	if err != nil {
		return console.Usage(err)
	}
	found.Twin = cmp.Or(found.Twin, filepath.Base(r.Twin))
	tables := flags.Tables{Format: r.Format, Lang: r.Lang, Output: r.Output, Force: r.Force, Plain: r.Plain}
	data := func(w io.Writer) error { return choose.TwinBesideJSON(w, found) }
	switch r.Format {
	case "csv":
		tables.Format = "json"
		data = func(w io.Writer) error { return choose.TwinBesideCSV(w, found) }
	case "console", "markdown", "json", flags.FormatHTML:
	default:
		return console.Usage(errBesideFormat)
	}
	return tables.Write(c, data, choose.TwinBeside(found), func(w io.Writer, o html.WriteOptions) error {
		run, err := saturation.Reopen(r.Dirs[0])
		if err != nil {
			return err
		}
		d := html.OfRun(run, r.Dirs[0])
		d.Sections = slices.Insert(d.Sections, 1, plans.BesidePlots(found)) // after the answer
		return html.WriteHTML(w, d, o)
	})
}
