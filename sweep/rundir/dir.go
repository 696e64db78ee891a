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
)

// flushEvery bounds what a killed process loses.
const flushEvery = time.Second

// queuedRecords may wait for a disk that is slow to take them, before those who append wait too.
const queuedRecords = 4096

// Dir is a run directory being written. Its methods may be called from any goroutine; records are written by one, so that
// no request waits for the disk.
type Dir struct {
	Path string

	queue  chan entry
	closed chan struct{} // when no more is written
	lines  sync.Pool     // of *[]byte, to encode records into

	mu    sync.Mutex
	parts map[string]part // of the records file, by stage
	at    part            // what has been written
	err   error           // the first failure to write; sticky
}

// entry is a record on its way to the file, or a wish to have all before it there.
type entry struct {
	stage   string
	line    *[]byte
	flushed chan<- error
	last    bool
}

// part is where in the records file those of a stage are.
type part struct {
	from, to int64 // bytes
	line     int   // before the first
}

// Create makes the directory, and refuses one that holds a run already.
func Create(path string) (*Dir, error) {
	if _, err := os.Stat(filepath.Join(path, RunFile)); err == nil {
		return nil, fmt.Errorf("%s already holds a run; name another directory with --out, or remove it", path)
	}
	return Replace(path)
}

// Replace makes the directory, or empties the run in it.
func Replace(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("cannot make the run directory: %w", err)
	}
	for _, name := range []string{RunFile, ReportFile} {
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

// newDir writes records to f until it is closed.
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

// Append hands one record to the writer, which keeps nothing of r. The first failure to write, a full disk say, is
// returned from then on.
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

// Flush waits until what was appended is with the operating system.
func (d *Dir) Flush() error { return d.wait(false) }

// Close flushes and closes the records.
func (d *Dir) Close() error { return d.wait(true) }

func (d *Dir) wait(last bool) error {
	flushed := make(chan error, 1)
	if err := d.send(entry{flushed: flushed, last: last}); err != nil {
		return err
	}
	select {
	case err := <-flushed:
		return err
	case <-d.closed: // by somebody else meanwhile
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

// write writes what is queued, flushed each second, until it is told that this was the last.
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

// note keeps the first failure. A [bufio.Writer] that failed writes nothing any more.
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

// wrote counts a line, and remembers which part of the file its stage has.
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

// Save writes run.json whole or not at all: a reader never sees half of it.
func (d *Dir) Save(run *Run) error {
	b, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		return err
	}
	return d.WriteFile(RunFile, append(b, '\n'))
}

// WriteFile writes a file of the run directory whole or not at all.
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

// Records yields the records of one stage, as written so far.
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
		return nil, fmt.Errorf("%s is no run directory: it holds no %s", path, RunFile)
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

// Records yields the records in a run directory one at a time, never all in memory. A last line without its newline is
// what a killed process leaves, and is passed over.
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

// readLine returns one line of any length without its newline; io.EOF where no whole line is left.
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

// Memory is a run kept in memory: for experiments by the thousand that nobody will look at again.
type Memory struct {
	mu      sync.Mutex
	records map[string][]*Record
	Run     *Run // as saved last
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

// Save remembers the run.
func (m *Memory) Save(run *Run) error {
	m.Run = run
	return nil
}
