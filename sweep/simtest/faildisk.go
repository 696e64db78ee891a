package simtest

import (
	"os"
	"sync"
	"syscall"

	"llmsweep/sweep/rundir/store"
)

// FailingDisk is the operating system's disk until it fails.
type FailingDisk struct {
	store.OS

	mu   sync.Mutex
	room int64 // bytes that can still be written; negative for no such limit
	err  error // of everything from now on; nil for none
	sync error // of syncing from now on; nil for none
}

// FullDisk returns a disk that takes a number of bytes. Removing files makes no room.
func FullDisk(bytes int64) *FailingDisk { return &FailingDisk{room: bytes} }

// SoundDisk returns a disk that does not fail until [FailingDisk.Fail] is called.
func SoundDisk() *FailingDisk { return &FailingDisk{room: -1} }

// Fail lets everything fail from now on: with [syscall.EIO], or [syscall.EROFS], say.
func (d *FailingDisk) Fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}

// FailSync lets syncing fail from now on, and nothing else.
func (d *FailingDisk) FailSync(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sync = err
}

// Room returns the number of bytes that can still be written; negative where that is not limited.
func (d *FailingDisk) Room() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.room
}

// Failed reports whether the disk is full or has failed.
func (d *FailingDisk) Failed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err != nil || d.room == 0
}

func (d *FailingDisk) failure(op, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: name, Err: d.err}
}

func (d *FailingDisk) syncFailure(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sync == nil {
		return nil
	}
	return &os.PathError{Op: "sync", Path: name, Err: d.sync}
}

// take returns for how many of n bytes there is room.
func (d *FailingDisk) take(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.room < 0 {
		return n
	}
	n = int(min(int64(n), d.room))
	d.room -= int64(n)
	return n
}

// Create makes an empty file.
func (d *FailingDisk) Create(name string) (store.File, error) { return d.open(name, d.OS.Create) }

// Append opens a file.
func (d *FailingDisk) Append(name string) (store.File, error) { return d.open(name, d.OS.Append) }

func (d *FailingDisk) open(name string, open func(string) (store.File, error)) (store.File, error) {
	if err := d.failure("open", name); err != nil {
		return nil, err
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	return &failingFile{f, d, name}, nil
}

// Truncate cuts a file.
func (d *FailingDisk) Truncate(name string, size int64) error {
	if err := d.failure("truncate", name); err != nil {
		return err
	}
	return d.OS.Truncate(name, size)
}

// Rename renames a file.
func (d *FailingDisk) Rename(from, to string) error {
	if err := d.failure("rename", from); err != nil {
		return err
	}
	return d.OS.Rename(from, to)
}

// Check asks the directory.
func (d *FailingDisk) Check(f store.File, name string) error {
	if err := d.failure("write", name); err != nil {
		return err
	}
	if own, ok := f.(*failingFile); ok {
		f = own.File
	}
	return d.OS.Check(f, name)
}

type failingFile struct {
	store.File
	disk *FailingDisk
	name string
}

func (f *failingFile) Write(b []byte) (int, error) {
	if err := f.disk.failure("write", f.name); err != nil {
		return 0, err
	}
	n, err := f.File.Write(b[:f.disk.take(len(b))])
	if err == nil && n < len(b) {
		err = &os.PathError{Op: "write", Path: f.name, Err: syscall.ENOSPC}
	}
	return n, err
}

func (f *failingFile) Sync() error {
	if err := f.disk.failure("sync", f.name); err != nil {
		return err
	}
	if err := f.disk.syncFailure(f.name); err != nil {
		return err
	}
	return f.File.Sync()
}
