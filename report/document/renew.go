package document

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"llmsweep/report/compare"
	"llmsweep/report/inputs"
	html "llmsweep/report/page"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// RenewDocument is the file that holds the document.
type RenewDocument struct {
	Path string
	// Names are how results outside of the directory of the document are named; see [setup.Names].
	Names func(path string) string
}

// IsDocument reports whether a path is the document.
func (d RenewDocument) IsDocument(path string) bool {
	file, err1 := filepath.Abs(path)
	document, err2 := filepath.Abs(d.Path)
	return err1 == nil && err2 == nil && file == document
}

// SourceName returns how the document names a file: beneath its directory by the path from there, elsewhere by its name
// alone, since a document that is published tells nothing of the machine that it was written on.
func (d RenewDocument) SourceName(path string) string {
	file, err1 := filepath.Abs(path)
	dir, err2 := filepath.Abs(filepath.Dir(d.Path))
	if err1 == nil && err2 == nil {
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
		path = file
	}
	if d.Names != nil {
		return d.Names(path)
	}
	return filepath.Base(path)
}

// AddStored adds the runs in the document that were not named now. Each is read again from its source; where that is
// gone, the numbers come from the document's own table.
func (d RenewDocument) AddStored(w io.Writer, found []setup.Input, old []byte) ([]setup.Input, error) {
	stored, err := storedRuns(old)
	if err != nil {
		return nil, err
	}
	for _, k := range stored {
		if slices.ContainsFunc(found, func(in setup.Input) bool { return d.isStored(in, k) }) {
			continue
		}
		again, ok := d.reread(k)
		if !ok {
			again, ok = d.readTable(k, old)
			if !ok {
				return nil, fmt.Errorf("lines %d to %d hold no table, and %s is gone; delete that part",
					k.firstLine, k.firstLine+k.lines, k.From)
			}
			fmt.Fprintf(w, "%s is not beside %[2]s: its numbers are taken from there\n", table.Clean(k.From), d.Path)
		}
		found = append(found, again)
	}
	return found, nil
}

func (d RenewDocument) isStored(in setup.Input, k storedRun) bool {
	if src := in.Run.Source; src != nil {
		return d.SourceName(src.File) == k.From && src.Line == k.Line
	}
	return d.SourceName(in.Path) == k.From
}

func (d RenewDocument) reread(k storedRun) (setup.Input, bool) {
	var paths []string
	for _, from := range append([]string{k.From}, k.With...) {
		paths = append(paths, filepath.Join(filepath.Dir(d.Path), filepath.FromSlash(from)))
	}
	some, err := inputs.Read(&bytes.Buffer{}, paths) // unreadable lines were reported when it was read first
	if err != nil {
		return setup.Input{}, false
	}
	i := slices.IndexFunc(some, func(in setup.Input) bool { return d.isStored(in, k) })
	if i < 0 {
		return setup.Input{}, false
	}
	return some[i], true
}

// readTable reads a run from its table in the document itself.
func (d RenewDocument) readTable(k storedRun, old []byte) (setup.Input, bool) {
	doc, err := published.ParseText(d.Path, bytes.NewReader(old))
	if err != nil {
		return setup.Input{}, false
	}
	i := slices.IndexFunc(doc.Runs, func(run rundir.Run) bool {
		return run.Source.Line >= k.firstLine && run.Source.Line < k.firstLine+k.lines
	})
	if i < 0 {
		return setup.Input{}, false
	}
	run := &doc.Runs[i]
	path := filepath.Join(filepath.Dir(d.Path), filepath.FromSlash(k.From))
	run.Source.File, run.Source.Line = path, k.Line
	return setup.Input{Path: path, Run: run}, true
}

// RenewPage returns the page of the results of a document; nil for a single one.
func RenewPage(setups []setup.Setup, o Options) ([]byte, error) {
	if len(setups) < 2 {
		return nil, nil
	}
	result, err := compare.Of(setups, o.AnyWorkload)
	if compare.Incomparable(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := html.Compare(&b, result, setups, result.Report(1), html.WriteOptions{Lang: o.Lang}); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
