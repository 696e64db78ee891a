//go:build unix

package store

import (
	"errors"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// flock locks an open file, alone or together with others, and does not wait.
func flock(f *os.File, alone bool) error {
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	for {
		switch err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); err {
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return errLocked
		default:
			return err
		}
	}
}

// unsupported reports whether the file system lacks an operation.
func unsupported(err error) bool {
	return slices.ContainsFunc([]error{unix.ENOLCK, unix.ENOSYS, unix.ENOTSUP, unix.EOPNOTSUPP, unix.EINVAL},
		func(e error) bool { return errors.Is(err, e) })
}

// syncDir syncs the names in a directory, where the file system can do that.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !unsupported(err) {
		return err
	}
	return nil
}

func writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &os.PathError{Op: "write", Path: dir, Err: err}
	}
	return nil
}
