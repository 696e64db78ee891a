// A disk that loses what was not synced when the power fails.

package simtest

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"llmsweep/sweep/rundir/store"
)

type kind uint8

const (
	create kind = iota
	write
	truncate
	syncFile
	rename
	remove
	syncDir
)

type operation struct {
	kind kind
	at   time.Time
	file int // number of the file that is made, written, cut or synced
	name string
	to   string // new name
	size int64
	data []byte
}

// RecordingDisk is the operating system's disk, and keeps all operations in one directory, so that what a crash would
// have left can be made afterwards. Directories are not removed or renamed.
type RecordingDisk struct {
	store.OS
	dir string

	mu    sync.Mutex
	all   []operation
	files int            // made so far
	names map[string]int // the file of each name
}

// RecordDisk returns a disk that keeps the operations in a directory, which must be empty.
func RecordDisk(dir string) *RecordingDisk { return &RecordingDisk{dir: dir, names: map[string]int{}} }

func (r *RecordingDisk) add(op operation) {
	op.at = time.Now()
	r.all = append(r.all, op)
}

// Create makes an empty file. One of that name that was there keeps its number: it is cut.
func (r *RecordingDisk) Create(name string) (store.File, error) {
	return r.open(name, r.OS.Create, true)
}

// Append opens a file.
func (r *RecordingDisk) Append(name string) (store.File, error) {
	return r.open(name, r.OS.Append, false)
}

func (r *RecordingDisk) open(name string, open func(string) (store.File, error), empty bool) (store.File, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n, known := r.names[name]
	switch {
	case !known:
		n = r.files
		r.files++
		r.names[name] = n
		r.add(operation{kind: create, file: n, name: name})
	case empty:
		r.add(operation{kind: truncate, file: n})
	}
	return &recordedFile{f, r, n}, nil
}

// Truncate cuts a file.
func (r *RecordingDisk) Truncate(name string, size int64) error {
	if err := r.OS.Truncate(name, size); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(operation{kind: truncate, file: r.names[name], size: size})
	r.add(operation{kind: syncFile, file: r.names[name]})
	return nil
}

// Rename renames a file.
func (r *RecordingDisk) Rename(from, to string) error {
	if err := r.OS.Rename(from, to); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names[to] = r.names[from]
	delete(r.names, from)
	r.add(operation{kind: rename, name: from, to: to})
	return nil
}

// Remove removes a file.
func (r *RecordingDisk) Remove(name string) error {
	if err := r.OS.Remove(name); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.names[name]; known {
		delete(r.names, name)
		r.add(operation{kind: remove, name: name})
	}
	return nil
}

// SyncDir syncs the names.
func (r *RecordingDisk) SyncDir(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(operation{kind: syncDir})
	return nil // nothing depends on the real disk's
}

// Check finds nothing.
func (r *RecordingDisk) Check(store.File, string) error { return nil }

type recordedFile struct {
	store.File
	disk *RecordingDisk
	file int
}

func (f *recordedFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.add(operation{kind: write, file: f.file, data: slices.Clone(b[:n])})
	return n, err
}

func (f *recordedFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.add(operation{kind: syncFile, file: f.file})
	return nil
}

// Len returns the number of operations so far.
func (r *RecordingDisk) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.all)
}

// Until returns the number of operations until a time.
func (r *RecordingDisk) Until(t time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, _ := slices.BinarySearchFunc(r.all, t, func(op operation, t time.Time) int { return op.at.Compare(t) })
	return n
}

// Killed makes, in a directory, what a process leaves that is killed after a number of operations.
func (r *RecordingDisk) Killed(t *testing.T, ops int, dir string) {
	t.Helper()
	r.leave(t, ops, dir, nil)
}

// Cut makes, in a directory, what may be left when the power fails after a number of operations: of what was not
// synced, each write is there, or in part, or not at all, and each change of a name is there or not.
func (r *RecordingDisk) Cut(t *testing.T, ops int, dir string, rng *rand.Rand) {
	t.Helper()
	r.leave(t, ops, dir, rng)
}

// Durable returns what is certainly left of a file when the power fails after a number of operations; nil where it may
// be missing.
func (r *RecordingDisk) Durable(name string, ops int) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	files, names := r.state(ops)
	file, ok := names.disk[filepath.Join(r.dir, name)]
	if !ok {
		return nil
	}
	return append([]byte{}, files[file].disk...) // not nil: the name is on the disk
}

// leave loses nothing without random numbers.
func (r *RecordingDisk) leave(t *testing.T, ops int, dir string, rng *rand.Rand) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	files, names := r.state(ops)
	for _, n := range slices.Sorted(maps.Keys(files)) {
		files[n].persist(rng)
	}
	names.persist(rng)
	for name, file := range names.disk {
		rel, err := filepath.Rel(r.dir, name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, rel), files[file].disk, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// state returns files and names after a number of operations: what is synced, and what is not.
func (r *RecordingDisk) state(ops int) (map[int]*content, *names) {
	files, names := map[int]*content{}, newNames()
	for _, op := range r.all[:ops] {
		switch op.kind {
		case create:
			files[op.file] = &content{}
			names.record(op)
		case rename, remove:
			names.record(op)
		case syncDir:
			names.persist(nil)
		case syncFile:
			files[op.file].persist(nil)
		default:
			files[op.file].record(op)
		}
	}
	return files, names
}

// content is what a file holds, and what was written to it and not synced.
type content struct {
	disk    []byte
	size    int64 // with what was not synced
	pending []operation
}

// record takes in an operation. The offset of a write is kept in its size.
func (c *content) record(op operation) {
	switch op.kind {
	case write:
		op.size, c.size = c.size, c.size+int64(len(op.data))
	case truncate:
		c.size = op.size
	}
	c.pending = append(c.pending, op)
}

// persist carries out what was not synced: all of it, or with random numbers some.
func (c *content) persist(rng *rand.Rand) {
	const sector = 512 // bytes, which are written as a whole
	for _, op := range c.pending {
		data := op.data
		if rng != nil {
			switch rng.IntN(3) {
			case 0:
				continue
			case 1:
				data = data[:len(data)/sector*sector]
				data = data[:rng.IntN(len(data)/sector+1)*sector]
			}
		}
		if op.kind == truncate {
			c.disk = c.disk[:min(op.size, int64(len(c.disk)))]
			continue
		}
		if end := op.size + int64(len(data)); end > int64(len(c.disk)) && len(data) > 0 {
			c.disk = append(c.disk, make([]byte, end-int64(len(c.disk)))...)
		}
		copy(c.disk[min(op.size, int64(len(c.disk))):], data)
	}
	c.pending = nil
}

// names are those in the directory.
type names struct {
	disk    map[string]int
	cache   map[string]int // with what was not synced
	pending []change
}

// change is that of one name: to a file, or to none. The name that a rename takes away is gone in the same step.
type change struct {
	name string
	file int
	none bool
	gone string
}

func newNames() *names { return &names{disk: map[string]int{}, cache: map[string]int{}} }

func (n *names) record(op operation) {
	c := change{name: op.name, file: op.file}
	switch op.kind {
	case rename:
		c = change{name: op.to, file: n.cache[op.name], gone: op.name}
	case remove:
		c.none = true
	}
	c.apply(n.cache)
	n.pending = append(n.pending, c)
}

func (n *names) persist(rng *rand.Rand) {
	for _, c := range n.pending {
		if rng == nil || rng.IntN(2) == 0 {
			c.apply(n.disk)
		}
	}
	n.pending = nil
}

func (c *change) apply(to map[string]int) {
	if c.gone != "" {
		delete(to, c.gone)
	}
	if c.none {
		delete(to, c.name)
	} else {
		to[c.name] = c.file
	}
}
