package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockedAt is the byte that is locked: far beyond the content, which others may read.
const lockedAt = 1 << 30

// flock locks an open file, alone or together with others, and does not wait.
func flock(f *os.File, alone bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{Offset: lockedAt})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errLocked
	}
	return err
}

func unsupported(err error) bool { return errors.Is(err, windows.ERROR_NOT_SUPPORTED) }

// syncDir does nothing: the names in a directory cannot be synced.
func syncDir(string) error { return nil }

// writable asks nothing: access rights are found out by writing.
func writable(string) error { return nil }
