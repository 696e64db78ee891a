package rundir

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
)

// Canaries yields the answers to canaries in a run directory; none where there is no file. The file may be compressed with gzip, and then ends in .gz. A last line without a newline, which a killed process
// leaves, is skipped.
func Canaries(path string) iter.Seq2[*CanaryAnswer, error] {
	return func(yield func(*CanaryAnswer, error) bool) {
		name := filepath.Join(path, CanariesFile)
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
			a := &CanaryAnswer{}
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
