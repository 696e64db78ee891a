package store

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"llmsweep/sweep/rundir"
)

// appendTo writes values, one a line, and waits until they are on the disk.
func appendTo[T any](d *Dir, file string, all []T) error {
	if len(all) == 0 {
		return nil
	}
	var b bytes.Buffer
	for i := range all {
		line, err := json.Marshal(&all[i])
		if err != nil {
			return err
		}
		b.Write(append(rundir.EscapeJSON(line), '\n'))
	}
	name := filepath.Join(d.Path, file)
	f, err := d.disk.Append(name)
	if err == nil {
		err = writeSynced(f, b.Bytes())
	}
	d.mu.Lock()
	first := d.sizes[file] == 0
	d.mu.Unlock()
	if err == nil && first {
		err = d.disk.SyncDir(d.Path)
	}
	if err != nil {
		return d.fail(name, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sizes == nil {
		d.sizes = map[string]int64{}
	}
	d.sizes[file] += int64(b.Len())
	return nil
}

type fileLine[T any] struct {
	value T
	end   int64 // its offset in the file
}

// eachLine yields the lines of a file that [appendTo] wrote; none where there is no file. The file may be compressed
// with gzip, and then ends in .gz. A last line without a newline, which a killed process leaves, is skipped, and so is
// what a power failure damaged.
func eachLine[T any](path, file string) iter.Seq2[*fileLine[T], error] {
	return func(yield func(*fileLine[T], error) bool) {
		name := filepath.Join(path, file)
		f, err := openPlainOrGzip(name)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		in := bufio.NewReader(f)
		for line, offset := 1, int64(0); ; line++ {
			b, err := readLine(in)
			if err == io.EOF {
				return
			}
			v := &fileLine[T]{end: offset + int64(len(b)) + 1}
			if err == nil {
				err = json.Unmarshal(b, &v.value)
			}
			if err != nil {
				if !isTorn(path, file, offset) {
					yield(nil, fmt.Errorf("%s:%d: %w", name, line, err))
				}
				return
			}
			offset = v.end
			if !yield(v, nil) {
				return
			}
		}
	}
}

func values[T any](path, file string) iter.Seq2[*T, error] {
	return convert(eachLine[T](path, file), func(l *fileLine[T]) *T { return &l.value })
}

// convert ends at the first error.
func convert[A, B any](all iter.Seq2[A, error], of func(A) *B) iter.Seq2[*B, error] {
	return func(yield func(*B, error) bool) {
		for a, err := range all {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(of(a), nil) {
				return
			}
		}
	}
}

// keptEnd returns where the last line of a kept stage ends in a file; -1 where there is no file.
func keptEnd(path, file string, kept func(stage string) bool) (end int64, err error) {
	if _, err := os.Stat(filepath.Join(path, file)); errors.Is(err, os.ErrNotExist) {
		return -1, nil
	}
	for line, err := range eachLine[struct {
		Stage string `json:"stage"`
	}](path, file) {
		if err != nil {
			return 0, err
		}
		if kept(line.value.Stage) {
			end = line.end
		}
	}
	return end, nil
}

// openPlainOrGzip opens a file, or else the one of that name and .gz.
func openPlainOrGzip(name string) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err == nil {
		return f, nil
	}
	packed, missing := os.Open(name + ".gz")
	if missing != nil {
		return nil, err
	}
	z, err := gzip.NewReader(packed)
	if err != nil {
		packed.Close()
		return nil, fmt.Errorf("%s: %w", name+".gz", err)
	}
	return gzipFile{z, packed}, nil
}

type gzipFile struct {
	io.Reader
	io.Closer
}
