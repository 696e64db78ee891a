package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// LockFile is the file by which a directory is locked. It is removed when the directory is unlocked; what counts is the
// lock on it, which ends with the process, and not that it exists.
const LockFile = ".lock"

type inUseError struct {
	Dir     string
	Process int // its number; 0 where that is not known
}

func (e *inUseError) Error() string {
	if e.Process == 0 {
		return fmt.Sprintf("another llmsweep writes into %s", e.Dir)
	}
	return fmt.Sprintf("another llmsweep (process %d) writes into %s", e.Process, e.Dir)
}

var errLocked = errors.New("it is locked")

// lockFile makes and locks a file. Where the file system has no locks, nobody is kept out.
func lockFile(name string) (unlock func() error, err error) {
	// InUse takes the lock for a moment.
	const tries, between = 5, 20 * time.Millisecond
	for n := range tries {
		if n > 0 {
			time.Sleep(between)
		}
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, err
		}
		switch err := flock(f, true); {
		case errors.Is(err, errLocked):
			f.Close()
			continue
		case err != nil && !unsupported(err):
			f.Close()
			return nil, &os.PathError{Op: "lock", Path: name, Err: err}
		}
		if !isNamed(f, name) { // the process that had the lock before has just removed the file
			f.Close()
			continue
		}
		f.Truncate(0)
		f.WriteString(strconv.Itoa(os.Getpid()) + "\n") // to be shown; the lock holds without it
		return func() error {
			os.Remove(name) // before it is unlocked, so that nobody has locked it meanwhile; a file that stays is harmless
			return f.Close()
		}, nil
	}
	return nil, &inUseError{filepath.Dir(name), lockingProcess(name)}
}

// isNamed reports whether a file still has its name.
func isNamed(f *os.File, name string) bool {
	opened, err1 := f.Stat()
	current, err2 := os.Stat(name)
	return err1 == nil && err2 == nil && os.SameFile(opened, current)
}

// InUse reports whether a process writes into a directory, as far as its lock tells.
func InUse(dir string) bool {
	f, err := os.Open(filepath.Join(dir, LockFile))
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(flock(f, false), errLocked)
}

// lockingProcess returns the number of the process that has the lock; 0 where it is not known.
func lockingProcess(name string) int {
	f, err := os.Open(name)
	if err != nil {
		return 0
	}
	defer f.Close()
	const longest = 32 // bytes of a number
	b, _ := io.ReadAll(io.LimitReader(f, longest))
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return n
}
