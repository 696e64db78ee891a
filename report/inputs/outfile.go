// No file that people wrote or changed is overwritten. A file of llmsweep ends with a mark: a comment with the checksum
// of what stands before it. A file whose mark fits is replaced. Formats without comments have no mark, so their files
// are replaced only with --force.

package inputs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"llmsweep/sweep/rundir/store"
)

// OutputFile is a file to be written.
type OutputFile struct {
	Path    string
	Content []byte
	Comment CommentMark // that the format has, for the mark
	Private bool        // readable by its owner only
}

// privateDisk creates files that only their owner can read.
type privateDisk struct{ store.OS }

func (privateDisk) Create(name string) (store.File, error) {
	return os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
}

// WriteOutput writes files with their marks, each as a whole. It writes none where [CheckOutput] refuses one, unless
// force is set.
func WriteOutput(force bool, files ...OutputFile) error {
	for _, f := range files {
		err := CheckOutput(f.Path, force)
		if err == nil {
			continue
		}
		old, readErr := os.ReadFile(f.Path)
		if readErr != nil || !bytes.Equal(old, MarkedOutput(f.Content, f.Comment)) { // the same again does no harm
			return err
		}
	}
	for _, f := range files {
		if err := f.write(); err != nil {
			return err
		}
	}
	return nil
}

// CheckOutput returns an error where a file may not be overwritten: it exists, is not empty, and has no mark of
// llmsweep or was changed since. With force all may be.
func CheckOutput(path string, force bool) error {
	info, err := os.Stat(path)
	if force || err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil // there is none, or it is a pipe or a device; another failure is that of writing it
	}
	if b, err := os.ReadFile(path); err == nil && intactOutput(b) {
		return nil
	}
	return fmt.Errorf("%s exists, and llmsweep did not write it, or it was changed since: choose another name, or "+
		"overwrite it with --force", path)
}

// write replaces a file in one step. A link stays one, and what is no regular file, such as a pipe, is written to.
func (f OutputFile) write() error {
	path, b := f.Path, MarkedOutput(f.Content, f.Comment)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(b)
		return errors.Join(err, f.Close())
	}
	if f.Private {
		return store.ReplaceFile(privateDisk{}, path, b)
	}
	return store.ReplaceFile(store.OS{}, path, b)
}
