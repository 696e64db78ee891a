// Package renew reads again what a document holds, so that a new one has it too, and makes its page.
package renew

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"llmsweep/report/claims"
	"llmsweep/report/compare"
	"llmsweep/report/curve"
	"llmsweep/report/document"
	"llmsweep/report/inputs"
	html "llmsweep/report/page"
	"llmsweep/report/page/layout"
	"llmsweep/report/published/read"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Document is the file that holds the document.
type Document struct{ Path string }

// From returns the path of a file relative to the directory of the document.
func (d Document) From(path string) string {
	there, err1 := filepath.Abs(path)
	here, err2 := filepath.Abs(filepath.Dir(d.Path))
	if err1 == nil && err2 == nil {
		if rel, err := filepath.Rel(here, there); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(path)
}

// WithKept adds the runs in the document that were not named now. Each is read again from its source; where that is gone, the
// numbers come from the document's own table.
func (d Document) WithKept(w io.Writer, found []curve.Input, old []byte) ([]curve.Input, error) {
	kept, err := document.Runs(old)
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		if slices.ContainsFunc(found, func(in curve.Input) bool { return d.is(in, k) }) {
			continue
		}
		again, ok := d.again(k)
		if !ok {
			if again, ok = d.printed(k, old); !ok {
				return nil, fmt.Errorf("lines %d to %d hold no table, and %s is gone; delete that part", k.FirstLine, k.FirstLine+k.Lines, k.From)
			}
			fmt.Fprintf(w, "%s is gone: its numbers are taken from %s\n", table.Clean(k.From), d.Path)
		}
		found = append(found, again)
	}
	return found, nil
}

// is reports whether an input is the run that a document holds.
func (d Document) is(in curve.Input, k document.Kept) bool {
	if src := in.Run.Source; src != nil {
		return d.From(src.File) == k.From && src.Line == k.Line
	}
	return d.From(in.Path) == k.From
}

// again reads a run from its source.
func (d Document) again(k document.Kept) (curve.Input, bool) {
	path := filepath.Join(filepath.Dir(d.Path), filepath.FromSlash(k.From))
	some, err := inputs.Path(&bytes.Buffer{}, path) // unreadable lines were reported when it was read first
	if err != nil {
		return curve.Input{}, false
	}
	i := slices.IndexFunc(some, func(in curve.Input) bool { return d.is(in, k) })
	if i < 0 {
		return curve.Input{}, false
	}
	return some[i], true
}

// printed reads the table of a run in the document itself.
func (d Document) printed(k document.Kept, old []byte) (curve.Input, bool) {
	doc, err := read.Parse(d.Path, bytes.NewReader(old))
	if err != nil {
		return curve.Input{}, false
	}
	i := slices.IndexFunc(doc.Runs, func(run rundir.Run) bool {
		return run.Source.Line >= k.FirstLine && run.Source.Line < k.FirstLine+k.Lines
	})
	if i < 0 {
		return curve.Input{}, false
	}
	run := &doc.Runs[i]
	path := filepath.Join(filepath.Dir(d.Path), filepath.FromSlash(k.From))
	run.Source.File, run.Source.Line = path, k.Line
	return curve.Input{Path: path, Run: run}, true
}

// Page returns the page of the results of a document; nil for a single one.
func Page(setups []curve.Setup, o document.Options) ([]byte, error) {
	if len(setups) < 2 {
		return nil, nil
	}
	result, err := compare.Of(setups, compare.Options{AnyWorkload: o.AnyWorkload})
	if err != nil {
		return nil, err
	}
	sections := result.Sections(1)
	for _, s := range o.Claims {
		sections = append(sections, claims.Section(s.Name, s.All, 2))
	}
	var b bytes.Buffer
	if err := html.Compare(&b, result, setups, sections, layout.Options{Lang: o.Lang}); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
