package rundir

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
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

// Dir is a run directory being written. Append and Save may be called from any goroutine.
type Dir struct {
	Path string

	mu      sync.Mutex
	file    *os.File
	buf     *bufio.Writer
	enc     []byte
	flushed time.Time
	err     error // the first failure to write; sticky
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
	return &Dir{Path: path, file: f, buf: bufio.NewWriterSize(f, 1<<16), flushed: time.Now()}, nil
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

// Append writes one record. The first failure, a full disk say, is returned from then on.
func (d *Dir) Append(r *Record) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return d.err
	}
	d.enc = append(r.appendJSON(d.enc[:0]), '\n')
	if _, err := d.buf.Write(d.enc); err != nil {
		return d.fail(err)
	}
	if time.Since(d.flushed) >= flushEvery {
		return d.flush()
	}
	return nil
}

// Flush pushes what is buffered to the operating system.
func (d *Dir) Flush() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return d.err
	}
	return d.flush()
}

func (d *Dir) flush() error {
	d.flushed = time.Now()
	if err := d.buf.Flush(); err != nil {
		return d.fail(err)
	}
	return nil
}

func (d *Dir) fail(err error) error {
	d.err = fmt.Errorf("cannot write %s: %w", filepath.Join(d.Path, RecordsFile), err)
	return d.err
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
		for r, err := range Records(d.Path) {
			if err == nil && r.Stage != stage {
				continue
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// Close flushes and closes the records.
func (d *Dir) Close() error {
	err := d.Flush()
	return errors.Join(err, d.file.Close())
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
	return func(yield func(*Record, error) bool) {
		name := filepath.Join(path, RecordsFile)
		f, err := os.Open(name)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		in := bufio.NewReaderSize(f, 1<<18)
		for line := 1; ; line++ {
			b, err := readLine(in)
			if err == io.EOF {
				return
			}
			r := &Record{}
			if err == nil {
				err = json.Unmarshal(b, r)
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
