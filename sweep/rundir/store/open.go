package store

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"

	"llmsweep/sweep/rundir"
)

// Create makes the directory. It is an error where that holds a run, or a file of another's that a run would overwrite.
func Create(path string) (*Dir, error) { return CreateOn(OS{}, path) }

// CreateOn is [Create] on a disk.
func CreateOn(d Disk, path string) (*Dir, error) {
	if err := checkFree(path); err != nil {
		return nil, err
	}
	return ReplaceOn(d, path)
}

func checkFree(path string) error {
	if InUse(path) {
		return fmt.Errorf("%s is being written by another llmsweep; name another directory with --out", path)
	}
	run, err := Open(path)
	switch {
	case err == nil && run.State != rundir.Complete && run.Source == nil:
		return fmt.Errorf("%s holds a run that did not end: llmsweep resume %s continues it, --force overwrites it, --out "+
			"names another directory", path, path)
	case err == nil:
		return fmt.Errorf("%s already holds a run: --force overwrites it, --out names another directory", path)
	}
	for _, name := range runFiles(path) {
		if info, err := os.Lstat(name); err == nil && info.Size() > 0 { // a run that never began leaves an empty file
			return fmt.Errorf("%s already exists, and a run would overwrite it: --force overwrites it, --out names another "+
				"directory", name)
		}
	}
	return nil
}

// runFiles are the files that a run may write: its own, and drawings.
func runFiles(path string) (names []string) {
	for _, name := range ownFiles() {
		names = append(names, filepath.Join(path, name))
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return names
	}
	for _, f := range entries {
		if filepath.Ext(f.Name()) == ".svg" {
			names = append(names, filepath.Join(path, f.Name()))
		}
	}
	return names
}

func ownFiles() []string {
	return append([]string{rundir.RunFile, rundir.RecordsFile, rundir.ReportFile, rundir.PageFile}, rundir.Appended()...)
}

// Replace makes the directory, or removes the run in it.
func Replace(path string) (*Dir, error) { return ReplaceOn(OS{}, path) }

// ReplaceOn is [Replace] on a disk.
func ReplaceOn(d Disk, path string) (*Dir, error) {
	if err := d.MkdirAll(path); err != nil {
		return nil, fmt.Errorf("cannot make the run directory: %w", err)
	}
	unlock, err := lock(d, path)
	if err != nil {
		return nil, err
	}
	f, err := removeRun(d, path)
	if err != nil {
		unlock()
		return nil, fmt.Errorf("cannot write in the run directory: %w", err)
	}
	return newDir(d, path, f, unlock), nil
}

// removeRun removes a run from a directory, run.json first: without it there is no run. It returns the new records
// file.
func removeRun(d Disk, path string) (File, error) {
	for _, name := range ownFiles() {
		if err := d.Remove(filepath.Join(path, name)); err != nil {
			return nil, err
		}
		if name == rundir.RunFile {
			if err := d.SyncDir(path); err != nil {
				return nil, err
			}
		}
	}
	f, err := d.Create(filepath.Join(path, rundir.RecordsFile))
	if err != nil {
		return nil, err
	}
	return f, d.SyncDir(path)
}

func lock(d Disk, path string) (unlock func() error, err error) {
	unlock, err = d.Lock(path)
	var used *inUseError
	if err != nil && !errors.As(err, &used) {
		err = fmt.Errorf("cannot write in the run directory: %w", err)
	}
	return unlock, err
}

// Edit locks a run directory, so that files of a run that has ended can be written. It takes no records.
func Edit(path string) (*Dir, error) {
	unlock, err := lock(OS{}, path)
	if err != nil {
		return nil, err
	}
	return &Dir{Path: path, disk: OS{}, unlock: unlock}, nil
}

// Free returns path, or the first of path-2, path-3, ... that holds nothing that a run would overwrite.
func Free(path string) string {
	for i, p := 2, path; ; i++ {
		if checkFree(p) == nil {
			return p
		}
		p = fmt.Sprintf("%s-%d", path, i)
	}
}

// ContinueOn opens a directory whose run goes on. The records and readings of stages that are not kept are cut off, and
// so is what a power failure damaged.
func ContinueOn(d Disk, path string, kept func(stage string) bool) (*Dir, error) {
	unlock, err := lock(d, path)
	if err != nil {
		return nil, err
	}
	dir, err := reopen(d, path, kept, unlock)
	if err != nil {
		unlock()
	}
	return dir, err
}

func reopen(d Disk, path string, kept func(stage string) bool, unlock func() error) (*Dir, error) {
	parts, at, err := keptRecords(path, kept)
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	for _, file := range rundir.Appended() {
		size, err := keptEnd(path, file, kept)
		if err != nil {
			return nil, err
		}
		if size >= 0 {
			sizes[file] = size
		}
	}
	name := filepath.Join(path, rundir.RecordsFile)
	f, err := d.Append(name)
	if err != nil {
		return nil, &WriteError{name, err}
	}
	err = d.Truncate(name, at.to)
	for _, file := range rundir.Appended() {
		if size, exists := sizes[file]; exists && err == nil {
			err = d.Truncate(filepath.Join(path, file), size)
		}
	}
	if err == nil {
		err = d.SyncDir(path)
	}
	if err != nil {
		f.Close()
		return nil, &WriteError{name, err}
	}
	dir := newDir(d, path, f, unlock)
	dir.mu.Lock()
	defer dir.mu.Unlock()
	dir.parts, dir.at, dir.synced, dir.sizes = parts, at, at.to, sizes
	return dir, nil
}

// keptRecords returns where the records of each stage are, and the end of the last one of a kept stage.
func keptRecords(path string, kept func(stage string) bool) (parts map[string]part, at part, err error) {
	parts = map[string]part{}
	if _, err := os.Stat(filepath.Join(path, rundir.RecordsFile)); errors.Is(err, os.ErrNotExist) {
		return parts, at, nil
	}
	for r, err := range places(path, part{to: math.MaxInt64}) {
		if err != nil {
			return nil, at, err
		}
		if kept(r.Stage) {
			at.to, at.line = r.to, r.line
		}
	}
	for r, err := range places(path, part{to: at.to}) {
		if err != nil {
			return nil, at, err
		}
		p, known := parts[r.Stage]
		if !known {
			p.from, p.line = r.from, r.line-1
		}
		p.to = r.to
		parts[r.Stage] = p
	}
	return parts, at, nil
}

// isTorn reports whether a file may be damaged from an offset on: the power failed while the run went on, before so
// much of the file was on the disk.
func isTorn(path, file string, offset int64) bool {
	run, err := Open(path)
	return err == nil && run.State == rundir.Running && offset >= run.Synced.BytesOf(file)
}

// Unsaved yields the records of a run that was killed, from after its run.json was last written.
func Unsaved(path string, run *rundir.Run) iter.Seq2[*rundir.Record, error] {
	return records(path, part{from: run.Synced.BytesOf(rundir.RecordsFile), to: math.MaxInt64})
}
