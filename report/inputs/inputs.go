// Package inputs reads results of all kinds: run directories, directories of those, and documents with published
// results. It imports documents as run directories, and overwrites no file that people wrote or changed. Start at
// [Read].
package inputs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"llmsweep/client/sim"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// Read reads results of all kinds, in the order given. It writes to w how many lines of a document it could not read.
func Read(w io.Writer, paths []string) ([]setup.Input, error) {
	for _, path := range paths {
		if strings.Contains(path, "://") || strings.HasPrefix(path, sim.Scheme) {
			return nil, fmt.Errorf("%s is a server; use llmsweep compare --live to compare two servers", path)
		}
	}
	files, docs, err := readFiles(paths)
	if err != nil {
		return nil, err
	}
	var all []setup.Input
	for _, path := range paths {
		var found []setup.Input
		if len(files) > 0 && path == files[0] {
			found, err = readDocument(w, path, docs[0])
			files, docs = files[1:], docs[1:]
		} else {
			found, err = readDirs(path)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// readFiles returns those of the paths that are files, and the documents in them.
func readFiles(paths []string) (files []string, docs []*published.Document, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
		}
	}
	docs, err = ReadDocuments(files)
	return files, docs, err
}

// runDirs returns the run directory at a path, or those in it. Advice ends the error where there is none.
func runDirs(path, advice string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(path, rundir.RunFile)); err == nil {
		return []string{path}, nil
	}
	dirs, err := filepath.Glob(filepath.Join(path, "*", rundir.RunFile))
	if err != nil || len(dirs) == 0 {
		return nil, fmt.Errorf("%s is not a run directory and holds none; %s", path, advice)
	}
	for i, file := range dirs {
		dirs[i] = filepath.Dir(file)
	}
	return dirs, nil
}

func readDirs(path string) ([]setup.Input, error) {
	dirs, err := runDirs(path, "name run directories or documents with published results")
	if err != nil {
		return nil, err
	}
	var all []setup.Input
	for _, dir := range dirs {
		run, err := saturation.Reopen(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, setup.Input{Path: dir, Run: run})
	}
	return all, nil
}

// readDocument returns the results in a published document, and prints what it lacks.
func readDocument(w io.Writer, path string, doc *published.Document) ([]setup.Input, error) {
	unread := 0
	for _, r := range doc.Remarks {
		if r.Unread {
			unread++
		}
	}
	if unread > 0 {
		fmt.Fprintf(w, "%s: %d figures or lines could not be read; llmsweep audit %s lists them\n", path, unread, path)
	}
	if doc.Broken() {
		return nil, &UnreadError{path, doc}
	}
	doc = published.Join(doc)
	var all []setup.Input
	for i := range doc.Runs {
		all = append(all, setup.Input{Path: path, Run: &doc.Runs[i]})
	}
	return all, nil
}

// UnreadError is the error of a document of which more than a tenth could not be read.
type UnreadError struct {
	Path string
	Doc  *published.Document
}

func (e *UnreadError) Error() string {
	text := fmt.Sprintf("%s: %d of %d figures could not be read", e.Path, e.Doc.Lost, e.Doc.Lost+e.Doc.Figures)
	if i := slices.IndexFunc(e.Doc.Remarks, func(r published.Remark) bool { return r.Unread }); i >= 0 {
		text += fmt.Sprintf("; line %d: %s", e.Doc.Remarks[i].Line, e.Doc.Remarks[i].Text)
	}
	return text + "; llmsweep audit " + e.Path + " lists them"
}

// Failure marks the error as one of the input, not of the command.
func (e *UnreadError) Failure() {}

// Assess judges the runs that were measured here by the terms, as report --slo does. Where the records are gone, the
// percentiles are all that there is.
func Assess(found []setup.Input, terms []slo.Term) error {
	for _, in := range found {
		if in.Run.Source != nil || len(terms) == 0 {
			continue
		}
		if err := saturation.Assess(in.Path, in.Run, terms); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
