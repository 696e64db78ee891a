package rundir

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// The files of a run directory.
const (
	RunFile     = "run.json"
	RecordsFile = "records.jsonl"
	ReportFile  = "report.md"
	PageFile    = "report.html"
)

// flushEvery bounds the records that a killed process loses.
const flushEvery = time.Second

// queuedRecords is how many records may wait for a slow disk before Append waits too: about a second of a fast server's requests.
const queuedRecords = 4096

// Dir is a run directory that is being written. Its methods may be called from any goroutine. A goroutine of its own writes the
// records, so that no request waits for the disk.
type Dir struct {
	Path string

	queue  chan entry
	closed chan struct{} // closed when nothing more is written
	lines  sync.Pool     // of *[]byte: buffers for encoded records

	mu    sync.Mutex
	parts map[string]part // of the records file, by stage
	at    part            // the end of what has been written
	err   error           // the first failure to write; sticky
}

// entry is a record to be written, or a request to flush all records before it.
type entry struct {
	stage   string
	line    *[]byte
	flushed chan<- error
	last    bool
}

// part is the part of the records file that holds those of a stage.
type part struct {
	from, to int64 // bytes
	line     int   // number of lines before it
}

// Create makes the directory; it is an error where that holds a run already.
func Create(path string) (*Dir, error) {
	if _, err := os.Stat(filepath.Join(path, RunFile)); err == nil {
		return nil, fmt.Errorf("%s already holds a run; name another directory with --out, or remove it", path)
	}
	return Replace(path)
}

// Replace makes the directory, or removes the run in it.
func Replace(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("cannot make the run directory: %w", err)
	}
	for _, name := range []string{RunFile, ReportFile, PageFile, ReadingsFile, CanariesFile} {
		if err := os.Remove(filepath.Join(path, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	f, err := os.Create(filepath.Join(path, RecordsFile))
	if err != nil {
		return nil, fmt.Errorf("cannot write in the run directory: %w", err)
	}
	return newDir(path, f), nil
}

// newDir returns a Dir that writes records to f until it is closed.
func newDir(path string, f io.WriteCloser) *Dir {
	d := &Dir{
		Path: path, queue: make(chan entry, queuedRecords), closed: make(chan struct{}), parts: map[string]part{},
		lines: sync.Pool{New: func() any { return new([]byte) }},
	}
	go d.write(f)
	return d
}

// Free returns path, or the first of path-2, path-3, ... that holds no run.
func Free(path string) string {
	for i, p := 2, path; ; i++ {
		if _, err := os.Stat(filepath.Join(p, RunFile)); err != nil {
			return p
		}
		p = fmt.Sprintf("%s-%d", path, i)
	}
}

// Append queues one record for writing; it keeps nothing of r. After the first failure to write, such as a full disk, it returns that
// error.
func (d *Dir) Append(r *Record) error {
	if err := d.failure(); err != nil {
		return err
	}
	line := d.lines.Get().(*[]byte)
	b, err := r.appendJSON((*line)[:0])
	if err != nil {
		return err
	}
	*line = append(b, '\n')
	return d.send(entry{stage: r.Stage, line: line})
}

// Flush waits until all records have been handed to the operating system.
func (d *Dir) Flush() error { return d.wait(false) }

// Close flushes and closes the records file.
func (d *Dir) Close() error { return d.wait(true) }

func (d *Dir) wait(last bool) error {
	flushed := make(chan error, 1)
	if err := d.send(entry{flushed: flushed, last: last}); err != nil {
		return err
	}
	select {
	case err := <-flushed:
		return err
	case <-d.closed: // by another goroutine meanwhile
		return d.failure()
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
	return fmt.Errorf("cannot write %s: %w", filepath.Join(d.Path, RecordsFile), os.ErrClosed)
}

func (d *Dir) failure() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// write writes queued records, flushed each second, until the last entry.
func (d *Dir) write(f io.WriteCloser) {
	defer close(d.closed)
	out := bufio.NewWriterSize(f, 1<<16)
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case e := <-d.queue:
			switch {
			case e.last:
				d.note(out.Flush())
				d.note(f.Close())
				e.flushed <- d.failure()
				return
			case e.flushed != nil:
				d.note(out.Flush())
				e.flushed <- d.failure()
			default:
				n, err := out.Write(*e.line)
				d.note(err)
				d.wrote(e.stage, n)
				d.lines.Put(e.line)
			}
		case <-ticker.C:
			d.note(out.Flush())
		}
	}
}

// note keeps the first failure. A [bufio.Writer] writes nothing after a failure.
func (d *Dir) note(err error) {
	if err == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.err = fmt.Errorf("cannot write %s: %w", filepath.Join(d.Path, RecordsFile), err)
	}
}

// wrote counts a line and extends its stage's part of the file.
func (d *Dir) wrote(stage string, bytes int) {
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

// Save writes run.json, whole or not at all.
func (d *Dir) Save(run *Run) error {
	b, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		return err
	}
	return d.WriteFile(RunFile, append(EscapeJSON(b), '\n'))
}

// WriteFile writes a file of the run directory, whole or not at all.
func (d *Dir) WriteFile(name string, b []byte) error {
	tmp, err := os.CreateTemp(d.Path, name+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails once it has been renamed
	_, err = tmp.Write(b)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", filepath.Join(d.Path, name), err)
	}
	return os.Rename(tmp.Name(), filepath.Join(d.Path, name))
}

// Records yields the records of one stage that have been appended so far.
func (d *Dir) Records(stage string) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		if err := d.Flush(); err != nil && !yield(nil, err) {
			return
		}
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
func Open(path string) (*Run, error) {
	name := filepath.Join(path, RunFile)
	b, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a run directory: it has no %s", path, RunFile)
	}
	if err != nil {
		return nil, err
	}
	run := &Run{}
	if err := json.Unmarshal(b, run); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", name, err)
	}
	if run.Schema != Schema {
		return nil, fmt.Errorf("%s has schema %q, and this llmsweep reads %q", name, run.Schema, Schema)
	}
	return run, nil
}

// Records yields the records in a run directory, one at a time. A last line without a newline, which a killed process leaves, is
// skipped.
func Records(path string) iter.Seq2[*Record, error] {
	return records(path, part{to: math.MaxInt64})
}

// records yields the records in a part of the file.
func records(path string, p part) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		name := filepath.Join(path, RecordsFile)
		f, err := os.Open(name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		in := bufio.NewReaderSize(io.NewSectionReader(f, p.from, p.to-p.from), 1<<18)
		for line := p.line + 1; ; line++ {
			b, err := readLine(in)
			if err == io.EOF {
				return
			}
			var r *Record
			if err == nil {
				r, err = parseRecord(b)
			}
			if err != nil {
				yield(nil, fmt.Errorf("%s:%d: %w", name, line, err))
				return
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

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

// Memory keeps a run in memory, for thousands of simulated experiments that need no files.
type Memory struct {
	mu      sync.Mutex
	records map[string][]*Record
	Run     *Run // as last saved
}

// Append keeps a copy of the record.
func (m *Memory) Append(r *Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records == nil {
		m.records = map[string][]*Record{}
	}
	m.records[r.Stage] = append(m.records[r.Stage], r.clone())
	return nil
}

// Records yields the records of one stage.
func (m *Memory) Records(stage string) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		m.mu.Lock()
		records := m.records[stage]
		m.mu.Unlock()
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Save keeps the run.
func (m *Memory) Save(run *Run) error {
	m.Run = run
	return nil
}
