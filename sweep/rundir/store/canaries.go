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
	"llmsweep/sweep/rundir"
	"os"
	"path/filepath"
)

// Canaries yields the answers to canaries in a run directory; none where there is no file. The file may be compressed with gzip, and then ends in .gz. A last line without a newline, which a killed process
// leaves, is skipped.
func Canaries(path string) iter.Seq2[*rundir.CanaryAnswer, error] {
	return func(yield func(*rundir.CanaryAnswer, error) bool) {
		name := filepath.Join(path, rundir.CanariesFile)
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
		for line := 1; ; line++ {
			b, err := readLine(in)
			if err == io.EOF {
				return
			}
			a := &rundir.CanaryAnswer{}
			if err == nil {
				err = json.Unmarshal(b, a)
			}
			if err != nil {
				yield(nil, fmt.Errorf("%s:%d: %w", name, line, err))
				return
			}
			if !yield(a, nil) {
				return
			}
		}
	}
}

// openPlainOrGzip opens a file, or the one of that name and .gz, and decompresses it.
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
	return unpacked{z, packed}, nil
}

// unpacked is a decompressed file.
type unpacked struct {
	io.Reader
	io.Closer
}

// AppendCanaries writes answers to canaries.
func (d *Dir) AppendCanaries(all []rundir.CanaryAnswer) error {
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
	name := filepath.Join(d.Path, rundir.CanariesFile)
	if err := d.append(name, b.Bytes()); err != nil {
		return d.note(name, err)
	}
	return nil
}
