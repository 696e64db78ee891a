package store

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"

	"llmsweep/sweep/rundir"
)

// AppendLines queues encoded records of one stage for writing, as [Lines] yields them. It keeps nothing of them.
func (d *Dir) AppendLines(stage string, lines []byte) error {
	if err := d.Failure(); err != nil {
		return err
	}
	line := d.lines.Get().(*[]byte)
	*line = append((*line)[:0], lines...)
	return d.send(entry{stage: stage, line: line, count: bytes.Count(lines, []byte("\n"))})
}

// Lines yields the encoded records in a run directory, whole lines of about size bytes at a time. What it yields is overwritten. A last line
// without a newline, which a killed process leaves, is skipped.
func Lines(path string, size int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, err := os.Open(filepath.Join(path, rundir.RecordsFile))
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		EachLines(f, size)(yield)
	}
}

// EachLines is [Lines] for an open file.
func EachLines(f io.Reader, size int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in, held := bufio.NewReaderSize(f, 1<<16), make([]byte, 0, size+size/4)
		for {
			b, err := in.ReadSlice('\n')
			held = append(held, b...)
			switch {
			case errors.Is(err, bufio.ErrBufferFull):
				continue
			case err == io.EOF:
				if end := bytes.LastIndexByte(held, '\n') + 1; end > 0 {
					yield(held[:end], nil)
				}
				return
			case err != nil:
				yield(nil, err)
				return
			}
			if len(held) >= size {
				if !yield(held, nil) {
					return
				}
				held = held[:0]
			}
		}
	}
}
