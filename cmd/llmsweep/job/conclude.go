package job

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/compare"
	"llmsweep/report/findings"
	"llmsweep/report/inputs"
	"llmsweep/report/lang"
	layout "llmsweep/report/page"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
)

// Result is a comparison that was measured.
type Result struct {
	*compare.PairComparison
	Dir    string // of the comparison
	Record *rundir.Pair
	Runs   [2]*rundir.Run
}

// resultOf returns the result of what was measured.
func resultOf(dir string, record *rundir.Pair, runs [2]*rundir.Run) *Result {
	return &Result{compare.OfPair(record, runs[0], runs[1]), dir, record, runs}
}

// Tables returns the sections of the result.
func (r *Result) Tables() []table.Section { return r.Sections(1) }

// Page writes the page of the result.
func (r *Result) Page(w io.Writer, o layout.WriteOptions) error {
	return layout.Pair(w, r.PairComparison, r.Runs, o)
}

// writePages writes the page of the comparison, and that of each side.
func (r *Result) writePages(sides []*side, l lang.Lang) error {
	for _, one := range sides {
		if err := writePage(one.dir, one.run, l); err != nil {
			return err
		}
	}
	var page bytes.Buffer
	if err := r.Page(&page, layout.WriteOptions{Lang: l}); err != nil {
		return err
	}
	return store.WriteFile(r.Dir, rundir.PageFile, inputs.MarkedOutput(page.Bytes(), inputs.XMLMark))
}

// conclude shows the result, writes the reports and chooses the exit code.
func (cm *Comparison) conclude(s *session, out string, record *rundir.Pair, gates []compare.Gate) error {
	l := cm.Lang
	for _, one := range s.sides {
		if _, err := s.document(one); err != nil {
			return err
		}
	}
	result := resultOf(out, record, [2]*rundir.Run{s.sides[0].run, s.sides[1].run})
	var doc bytes.Buffer
	if err := table.WriteSections(&doc, "markdown", result.Tables(), table.Style{Lang: l}); err != nil {
		return err
	}
	err := store.WriteFile(out, rundir.ReportFile, inputs.MarkedOutput(doc.Bytes(), inputs.XMLMark))
	if err == nil {
		err = result.writePages(s.sides, l)
	}
	if err == nil {
		err = cm.Show(result, gates)
	}
	switch {
	case err != nil:
		return err
	case record.State == rundir.Interrupted:
		return console.Exit(console.Interrupted, errors.New(findings.PairInterrupted(out, l)))
	case record.State == rundir.Failed:
		return errors.New(findings.Failed("", record.Failure, out, l))
	}
	return Verdict(result, gates)
}

// Dir returns the directory of a comparison of two servers, where the paths name it or its two runs.
func Dir(paths []string) (string, bool) {
	dir := ""
	switch sides := rundir.Sides(); {
	case len(paths) == 1:
		dir = paths[0]
	case len(paths) == 2 && filepath.Base(paths[0]) == sides[0] && filepath.Base(paths[1]) == sides[1] && filepath.Dir(paths[0]) == filepath.Dir(paths[1]):
		dir = filepath.Dir(paths[0])
	default:
		return "", false
	}
	_, err := os.Stat(filepath.Join(dir, rundir.PairFile))
	return dir, err == nil
}

// OpenPair reads a comparison that was measured before.
func OpenPair(dir string) (*Result, error) {
	record, _, err := store.OpenPair(dir)
	if err != nil {
		return nil, err
	}
	var runs [2]*rundir.Run
	for i, name := range rundir.Sides() {
		if runs[i], err = saturation.Reopen(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	if record.State == rundir.Running { // llmsweep was killed
		record.State = rundir.Interrupted
	}
	return resultOf(dir, record, runs), nil
}
