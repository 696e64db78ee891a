// The file operations that a run directory is written with. They are behind an interface, so that tests can cut the
// power, fill the disk up, or make it fail.
//
// What a power cut leaves is known only of what was synced: bytes of a file by [File].Sync, names in a directory by
// [Disk].SyncDir. The rest may be there, in part or not at all, and in any order.

package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Disk makes, renames and removes files.
type Disk interface {
	// MkdirAll makes a directory and those above it.
	MkdirAll(path string) error
	// Create makes an empty file, also where there is one.
	Create(name string) (File, error)
	// Append opens a file to write at its end. It makes the file where there is none.
	Append(name string) (File, error)
	// Truncate cuts a file to a length in bytes, and syncs it.
	Truncate(name string, size int64) error
	// Rename gives a file the name of another, which it replaces in one step.
	Rename(from, to string) error
	// Remove removes a file. It is no error where there is none.
	Remove(name string) error
	// SyncDir waits until the names in a directory are on the disk.
	SyncDir(path string) error
	// Check returns an error where what is written to an open file cannot be found under its name any more, or no other
	// file can be made beside it.
	Check(f File, name string) error
	// Lock keeps other processes from locking the same directory until it is unlocked, or the process ends. It fails
	// with an inUseError where another has it.
	Lock(dir string) (unlock func() error, err error)
}

// File is a file that is open for writing.
type File interface {
	io.WriteCloser
	// Sync waits until everything that was written is on the disk.
	Sync() error
}

// ReplaceFile writes a file as a whole: a reader, and whoever looks after a power cut, finds either the old content or
// the new.
func ReplaceFile(d Disk, name string, content []byte) error {
	const unfinished = ".tmp"
	tmp := name + unfinished
	f, err := d.Create(tmp)
	if err == nil {
		err = writeSynced(f, content)
	}
	if err == nil {
		err = d.Rename(tmp, name)
	}
	if err != nil {
		d.Remove(tmp) // its space is needed
		return err
	}
	return d.SyncDir(filepath.Dir(name))
}

// writeSynced writes to a file, waits until that is on the disk, and closes the file.
func writeSynced(f File, b []byte) error {
	_, err := f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// OS is the disk of the operating system.
type OS struct{}

// MkdirAll makes a directory and those above it, and syncs the directories that got new names.
func (OS) MkdirAll(path string) error {
	path = filepath.Clean(path)
	made := []string{}
	for p := path; ; p = filepath.Dir(p) {
		if _, err := os.Stat(p); err == nil || filepath.Dir(p) == p {
			break
		}
		made = append(made, p)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	for _, p := range made {
		if err := syncDir(filepath.Dir(p)); err != nil {
			return err
		}
	}
	return nil
}

// Create makes an empty file.
func (OS) Create(name string) (File, error) { return os.Create(name) }

// Append opens a file to write at its end.
func (OS) Append(name string) (File, error) {
	return os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
}

// Truncate cuts a file.
func (OS) Truncate(name string, size int64) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Sync(), f.Close())
}

// Rename renames a file.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove removes a file.
func (OS) Remove(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// SyncDir syncs the names in a directory.
func (OS) SyncDir(path string) error { return syncDir(path) }

// Check compares the open file with that of its name, and asks whether the directory can be written to.
func (OS) Check(f File, name string) error {
	current, err := os.Stat(name)
	if err != nil {
		return err
	}
	if open, ok := f.(*os.File); ok {
		if info, err := open.Stat(); err != nil || !os.SameFile(info, current) {
			return errors.Join(err, &os.PathError{Op: "write", Path: name, Err: os.ErrNotExist})
		}
	}
	return writable(filepath.Dir(name))
}

// Lock locks a directory by a file in it.
func (OS) Lock(dir string) (unlock func() error, err error) {
	return lockFile(filepath.Join(dir, LockFile))
}
