package job

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report"
	"llmsweep/report/compare"
	"llmsweep/report/findings"
	"llmsweep/report/inputs"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
)

func (cm *Comparison) conclude(s *session, out string, record *rundir.Pair, gates []compare.Gate) error {
	l := cm.Lang
	for _, one := range s.sides {
		if _, err := writeDocument(one.run, one.dir, report.Options{Lang: l}); err != nil {
			return err
		}
		if err := writePage(one.dir, one.run, l); err != nil {
			return err
		}
	}
	result := compare.OfPair(record, s.sides[0].run, s.sides[1].run)
	var doc bytes.Buffer
	if err := table.WriteSections(&doc, "markdown", result.Sections(1), table.Style{Lang: l}); err != nil {
		return err
	}
	err := store.WriteFile(out, rundir.ReportFile, inputs.MarkedOutput(doc.Bytes(), inputs.XMLMark))
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
	return Verdict(result.Changes, gates)
}

// Dir returns the directory of a comparison of two servers, where the paths name it or its two runs.
func Dir(paths []string) (string, bool) {
	dir, sides := "", rundir.Sides()
	switch {
	case len(paths) == 1:
		dir = paths[0]
	case len(paths) == 2 && filepath.Base(paths[0]) == sides[0] && filepath.Base(paths[1]) == sides[1] &&
		filepath.Dir(paths[0]) == filepath.Dir(paths[1]):
		dir = filepath.Dir(paths[0])
	default:
		return "", false
	}
	_, err := os.Stat(filepath.Join(dir, rundir.PairFile))
	return dir, err == nil
}

// OpenPair reads a comparison from its directory.
func OpenPair(dir string) (*compare.PairComparison, error) {
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
	return compare.OfPair(record, runs[0], runs[1]), nil
}
