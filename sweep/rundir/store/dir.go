// Package store writes and reads run directories: run.json, the records and the readings of the server. A directory is
// written during the run, and can be read at any time. What the files hold is in package rundir.
package store

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"llmsweep/sweep/rundir"
)

// flushEvery bounds the records that a killed process loses, and the time until it is seen that the directory is gone.
const flushEvery = 500 * time.Millisecond

// queuedRecords is how many records may wait for a slow disk before Append waits too: about a second of a fast server's
// requests.
const queuedRecords = 4096

// Dir is a run directory that is being written. Its methods may be called from any goroutine. A goroutine of its own
// writes the records, so that no request waits for the disk.
type Dir struct {
	Path string

	disk   Disk
	unlock func() error
	queue  chan entry
	closed chan struct{} // closed when nothing more is written
	broken chan struct{} // closed at the first failure
	lines  sync.Pool     // of *[]byte: buffers for encoded records

	mu     sync.Mutex
	parts  map[string]part  // of the records file, by stage
	at     part             // the end of what has been written
	synced int64            // bytes of the records file that are on the disk
	sizes  map[string]int64 // bytes of other files that are on the disk, see appended.go
	err    error            // the first failure to write; sticky
}

// entry is a record to be written, or a request to flush all records before it.
type entry struct {
	stage   string
	line    *[]byte
	flushed chan<- error
	sync    bool
	last    bool
}

// part is the part of the records file that holds all records of a stage, and perhaps others.
type part struct {
	from, to int64 // bytes
	line     int   // number of lines before it
}

func newDir(d Disk, path string, f File, unlock func() error) *Dir {
	dir := &Dir{
		Path: path, disk: d, unlock: unlock,
		queue: make(chan entry, queuedRecords), closed: make(chan struct{}), broken: make(chan struct{}),
		parts: map[string]part{},
		lines: sync.Pool{New: func() any { return new([]byte) }},
	}
	go dir.write(f)
	return dir
}

// Append queues one record for writing; it keeps nothing of r. After the first failure to write, such as a full disk,
// it returns that error.
func (d *Dir) Append(r *rundir.Record) error {
	if err := d.Failure(); err != nil {
		return err
	}
	line := d.lines.Get().(*[]byte)
	*line = append(r.AppendJSON((*line)[:0]), '\n')
	return d.send(entry{stage: r.Stage, line: line})
}

// Flush waits until all records have been handed to the operating system.
func (d *Dir) Flush() error { return d.wait(entry{}) }

// Sync waits until all records are on the disk.
func (d *Dir) Sync() error { return d.wait(entry{sync: true}) }

// Close flushes and closes the records file, and unlocks the directory.
func (d *Dir) Close() error {
	err := d.wait(entry{last: true})
	if d.unlock != nil {
		d.unlock()
	}
	return err
}

// Broken is closed when something could not be written: the disk is full, say, or the directory is gone. [Dir.Failure]
// returns why.
func (d *Dir) Broken() <-chan struct{} { return d.broken }

// wait returns at once where the directory was not opened to write records.
func (d *Dir) wait(e entry) error {
	if d.queue == nil {
		return nil
	}
	flushed := make(chan error, 1)
	e.flushed = flushed
	if err := d.send(e); err != nil {
		return err
	}
	select {
	case err := <-flushed:
		return err
	case <-d.closed: // by another goroutine meanwhile
		return d.Failure()
	}
}

func (d *Dir) send(e entry) error {
	select {
	case <-d.closed:
	default:
		select {
		case d.queue <- e:
			return nil
		case <-d.closed:
		}
	}
	return cmp.Or(d.Failure(), error(&WriteError{filepath.Join(d.Path, rundir.RecordsFile), os.ErrClosed}))
}

// Failure returns the first failure to write; nil where there was none.
func (d *Dir) Failure() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

func (d *Dir) write(f File) {
	defer close(d.closed)
	name := filepath.Join(d.Path, rundir.RecordsFile)
	out := bufio.NewWriterSize(f, 1<<16)
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case e := <-d.queue:
			switch {
			case e.last:
				d.fail(name, out.Flush())
				d.fail(name, f.Close())
				e.flushed <- d.Failure()
				return
			case e.flushed != nil:
				d.fail(name, out.Flush())
				if e.sync && d.Failure() == nil {
					d.fail(name, f.Sync())
					d.markSynced()
				}
				e.flushed <- d.Failure()
			default:
				n, err := out.Write(*e.line)
				d.fail(name, err)
				d.extendPart(e.stage, n)
				d.lines.Put(e.line)
			}
		case <-ticker.C:
			d.fail(name, out.Flush())
			d.fail(name, d.disk.Check(f, name))
		}
	}
}

// fail keeps the first failure. A [bufio.Writer] writes nothing after a failure.
func (d *Dir) fail(name string, err error) error {
	if err == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.err = &WriteError{name, err}
		if d.broken != nil {
			close(d.broken)
		}
	}
	return d.err
}

func (d *Dir) markSynced() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.synced = d.at.to
	}
}

// WriteError is the failure to write a file of a run directory.
type WriteError struct {
	File string
	Err  error
}

func (e *WriteError) Error() string { return fmt.Sprintf("cannot write %s: %s", e.File, cause(e.Err)) }

func (e *WriteError) Unwrap() error { return e.Err }

// cause returns the error of the operating system without the name of the file.
func cause(err error) error {
	var file *fs.PathError
	if errors.As(err, &file) {
		return file.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}

func (d *Dir) extendPart(stage string, bytes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, known := d.parts[stage]
	if !known {
		p.from, p.line = d.at.to, d.at.line
	}
	d.at.to += int64(bytes)
	d.at.line++
	p.to = d.at.to
	d.parts[stage] = p
}

// Save writes run.json, whole or not at all. What was appended before is on the disk when it is.
func (d *Dir) Save(run *rundir.Run) error {
	lost := d.Sync()
	run.Synced = d.syncState(run.State)
	b, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		return err
	}
	err = d.WriteFile(rundir.RunFile, append(rundir.EscapeJSON(b), '\n'))
	return cmp.Or(lost, err)
}

// syncState returns how much of the other files is on the disk, while the run goes on.
func (d *Dir) syncState(state rundir.State) *rundir.Synced {
	if state != rundir.Running {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return &rundir.Synced{Records: d.synced, Readings: d.sizes[rundir.ReadingsFile], Grades: d.sizes[rundir.GradesFile]}
}

// WriteFile writes a file into a directory that is no run directory, whole or not at all, and waits until it is on the
// disk.
func WriteFile(dir, name string, b []byte) error {
	path := filepath.Join(dir, name)
	if err := ReplaceFile(OS{}, path, b); err != nil {
		return &WriteError{path, err}
	}
	return nil
}

// WriteFile writes a file of the run directory, whole or not at all, and waits until it is on the disk.
func (d *Dir) WriteFile(name string, b []byte) error {
	path := filepath.Join(d.Path, name)
	if err := ReplaceFile(d.disk, path, b); err != nil {
		return d.fail(path, err)
	}
	return nil
}

// Records yields the records of one stage that have been appended so far. Where the disk failed, these are fewer, and
// [Dir.Failure] says so.
func (d *Dir) Records(stage string) iter.Seq2[*rundir.Record, error] {
	return func(yield func(*rundir.Record, error) bool) {
		d.Flush()
		d.mu.Lock()
		p := d.parts[stage]
		d.mu.Unlock()
		for r, err := range records(d.Path, p) {
			if err == nil && r.Stage != stage {
				continue
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// Open reads run.json.
func Open(path string) (*rundir.Run, error) {
	name := filepath.Join(path, rundir.RunFile)
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file; name a run directory, which sweep and run write", path)
	}
	b, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a run directory: it has no %s", path, rundir.RunFile)
	}
	if err != nil {
		return nil, err
	}
	run := &rundir.Run{}
	if err := json.Unmarshal(b, run); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", name, err)
	}
	if run.Schema != rundir.Schema {
		return nil, fmt.Errorf("%s has schema %q, and this llmsweep reads %q", name, run.Schema, rundir.Schema)
	}
	const control = "control" // before version 0.2.0 a sweep measured a load once more at its end
	run.Stages = slices.DeleteFunc(run.Stages, func(st rundir.Stage) bool { return st.Role == control })
	return run, nil
}

// Records yields the records in a run directory, one at a time. A last line without a newline, which a killed process
// leaves, is skipped, and so is what a power failure damaged.
func Records(path string) iter.Seq2[*rundir.Record, error] {
	return records(path, part{to: math.MaxInt64})
}

func records(path string, p part) iter.Seq2[*rundir.Record, error] {
	return convert(places(path, p), func(at place) *rundir.Record { return at.Record })
}

type place struct {
	*rundir.Record
	from, to int64
	line     int // from 1
}

func places(path string, p part) iter.Seq2[place, error] {
	return func(yield func(place, error) bool) {
		name := filepath.Join(path, rundir.RecordsFile)
		f, err := os.Open(name)
		if err != nil {
			yield(place{}, err)
			return
		}
		defer f.Close()
		in := bufio.NewReaderSize(io.NewSectionReader(f, p.from, p.to-p.from), readAhead)
		for line, offset := p.line+1, p.from; ; line++ {
			b, err := readLine(in)
			if err == io.EOF {
				return
			}
			var r *rundir.Record
			if err == nil {
				r, err = rundir.ParseRecord(b)
			}
			if err != nil {
				if !isTorn(path, rundir.RecordsFile, offset) {
					yield(place{}, fmt.Errorf("%s:%d: %w", name, line, err))
				}
				return
			}
			from := offset
			offset += int64(len(b)) + 1
			if !yield(place{r, from, offset, line}, nil) {
				return
			}
		}
	}
}

const readAhead = 1 << 18 // bytes

// readLine returns one line of any length without its newline; io.EOF where there is no complete line.
func readLine(in *bufio.Reader) ([]byte, error) {
	b, err := in.ReadSlice('\n')
	if err == nil {
		return bytes.TrimSuffix(b, []byte("\n")), nil
	}
	long := bytes.Clone(b)
	for err == bufio.ErrBufferFull {
		b, err = in.ReadSlice('\n')
		long = append(long, b...)
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(long, []byte("\n")), nil
}
