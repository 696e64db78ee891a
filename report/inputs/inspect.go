package inputs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"llmsweep/report/audit"
	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
)

// InspectPaths audits the results in documents and run directories. The answer is in the order in which they are named.
func InspectPaths(paths []string) ([]audit.Report, error) {
	var all inspection
	files, docs, err := readFiles(paths)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if len(files) > 0 && path == files[0] {
			all.addDocument(path, docs[0])
			files, docs = files[1:], docs[1:]
			continue
		}
		dirs, err := runDirs(path, "audit takes documents and run directories")
		if err != nil {
			return nil, err
		}
		for _, dir := range dirs {
			if err := all.addDir(dir); err != nil {
				return nil, err
			}
		}
	}
	return all.results(), nil
}

type inspection struct {
	files    []audit.Report // in the order in which they are named
	subjects []audit.Subject
	found    []audit.Finding // in records
}

func (n *inspection) addDocument(path string, doc *published.Document) {
	for i := range doc.Runs {
		n.addRun(path, &doc.Runs[i])
	}
	f := n.file(path)
	f.Broken = doc.Broken()
	for _, r := range doc.Remarks {
		if r.Unread {
			f.Unread = append(f.Unread, fmt.Sprintf("line %d: %s", r.Line, r.Text))
			f.Remarks = append(f.Remarks, r)
		}
	}
}

// addDir lists an imported run under the document that it came from.
func (n *inspection) addDir(path string) error {
	run, err := saturation.Reopen(path)
	if err != nil {
		return err
	}
	if run.Source != nil {
		n.addRun(run.Source.File, run)
		return nil
	}
	n.addRun(path, run)
	records := filepath.Join(path, rundir.RecordsFile)
	if _, err := os.Stat(records); err != nil {
		return nil // records are optional
	}
	found, err := audit.Records(run, records, store.Records(path))
	if err != nil {
		return err
	}
	n.found = append(n.found, found...)
	return nil
}

func (n *inspection) addRun(file string, run *rundir.Run) {
	n.subjects = append(n.subjects, audit.Subject{File: file, Run: run})
	f := n.file(file)
	f.Results++
	f.Rows += len(run.Stages)
}

// file returns the report of a file, which the next call may move.
func (n *inspection) file(name string) *audit.Report {
	i := slices.IndexFunc(n.files, func(f audit.Report) bool { return f.File == name })
	if i < 0 {
		n.files = append(n.files, audit.Report{File: name})
		i = len(n.files) - 1
	}
	return &n.files[i]
}

func (n *inspection) results() []audit.Report {
	for _, f := range append(audit.Runs(n.subjects), n.found...) {
		name := f.File
		if filepath.Base(name) == rundir.RecordsFile {
			name = filepath.Dir(name)
		}
		r := n.file(name)
		r.Findings = append(r.Findings, f)
	}
	return n.files
}
