package job

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"llmsweep/report"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	html "llmsweep/report/page"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// Best returns the drawings that a report may show, the best first.
func Best() []string { return []string{"output", "ttft", "latency", "itl"} }

const mostDrawings = 2

// Report returns the Markdown report of a run and the drawings that it shows, by the names of their files, which begin
// with base.
func Report(run *rundir.Run, dir, base string, o report.Options) (doc []byte, files map[string][]byte, err error) {
	files = map[string][]byte{}
	var shown []report.Drawing
	have := html.Drawings(run, dir)
	for _, name := range Best() {
		if len(shown) == mostDrawings || !slices.Contains(have, name) {
			continue
		}
		var b bytes.Buffer
		if err := html.Drawing(&b, name, run, dir, o.Lang); err != nil {
			return nil, nil, err
		}
		file := base + name + ".svg"
		files[file] = b.Bytes()
		shown = append(shown, report.Drawing{Alt: html.Caption(name, run, o.Lang), File: file})
	}
	var b bytes.Buffer
	o.Drawings = shown
	if err := report.Render(&b, "markdown", []rundir.Run{*run}, o); err != nil {
		return nil, nil, err
	}
	return b.Bytes(), files, nil
}

// Renew writes report.md with its drawings, or report.html, or both, of a run that is not being measured.
func Renew(run *rundir.Run, path string, l lang.Lang, document, page bool) error {
	dir, err := store.Edit(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if document {
		doc, files, err := Report(run, path, "", report.Options{Lang: l})
		if err != nil {
			return err
		}
		if err := writeDrawn(dir, doc, files); err != nil {
			return err
		}
	}
	if !page {
		return nil
	}
	return writePage(dir, run, l)
}

// writeDrawn writes report.md after the drawings that it shows.
func writeDrawn(dir *store.Dir, doc []byte, drawings map[string][]byte) error {
	for name, b := range drawings {
		if err := dir.WriteFile(name, inputs.MarkedOutput(b, inputs.XMLMark)); err != nil {
			return err
		}
	}
	return dir.WriteFile(rundir.ReportFile, inputs.MarkedOutput(doc, inputs.XMLMark))
}

// Base returns the beginning of the file names of a document's drawings.
func Base(path string) string {
	return strings.NewReplacer("<", "-", ">", "-", "\n", "-").Replace(strings.TrimSuffix(filepath.Base(path),
		filepath.Ext(path))) + "-"
}
