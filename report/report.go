// Package report renders what a run measured: a console table with the answer beneath it, a Markdown document in
// English or Chinese, CSV and JSON. Every rendering starts at []rundir.Run, so a directory can be rendered again at any
// time. It never computes a figure that was not measured, never turns a figure that does not exist into 0, and never
// writes the run directory.
package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
)

// Lang is the language of a rendering.
type Lang string

// The languages there are. The zero Lang is English.
const (
	English Lang = "en"
	Chinese Lang = "zh"
)

// Options say how to render. The zero value is English, as wide as it takes, without colour.
type Options struct {
	Lang  Lang
	Width int    // columns of the terminal; 0: as many as it takes
	Color bool   // escape sequences for colour may be written
	ASCII bool   // draw with ASCII only
	Dir   string // the run directory, to say where the files are; empty: not said
}

// renderer writes runs in one format.
type renderer func(w io.Writer, runs []rundir.Run, o Options) error

// format is a rendering and the name it is asked for by.
type format struct {
	name   string
	render renderer
}

func formats() []format {
	return []format{
		{"console", Console},
		{"markdown", func(w io.Writer, runs []rundir.Run, o Options) error { return Markdown(w, runs, o.Lang) }},
		{"csv", func(w io.Writer, runs []rundir.Run, _ Options) error { return CSV(w, runs) }},
		{"json", func(w io.Writer, runs []rundir.Run, _ Options) error { return JSON(w, runs) }},
		{"stress", func(w io.Writer, runs []rundir.Run, o Options) error { return Stress(w, runs, o.Lang) }},
		{"serving", func(w io.Writer, runs []rundir.Run, o Options) error { return Serving(w, runs, o.Lang) }},
		{"guidellm", func(w io.Writer, runs []rundir.Run, _ Options) error { return published.WriteGuideLLM(w, runs) }},
	}
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
	if !slices.Contains([]Lang{"", English, Chinese}, o.Lang) {
		return fmt.Errorf("no language %q: there are %s and %s", o.Lang, English, Chinese)
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
