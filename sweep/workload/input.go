package workload

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"llmsweep/client/note"
)

// rowInput is a data file, unpacked and without its byte order mark.
type rowInput struct {
	Name string
	*bufio.Reader
	MaxRow int // bytes of a row; maxRow but in tests
	Close  func() error
}

// openRows opens a file or the built-in texts. A gzip file is unpacked while it is read, whatever its name.
func openRows(path string) (*rowInput, error) {
	if path == BuiltIn {
		in, err := newRows(path, strings.NewReader(builtInLines()))
		if err == nil {
			in.Close = func() error { return nil }
		}
		return in, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	in, err := newRows(path, f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	in.Close = f.Close
	return in, nil
}

func newRows(name string, r io.Reader) (*rowInput, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("%s begins like a gzip file but is not one: %w", name, err)
		}
		b = bufio.NewReaderSize(z, 1<<16)
	}
	mark, _ := b.Peek(3)
	switch {
	case bytes.HasPrefix(mark, []byte("\xef\xbb\xbf")):
		b.Discard(3)
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		return nil, fmt.Errorf("%s is in UTF-16: save it as UTF-8", name)
	}
	return &rowInput{Name: name, Reader: b, MaxRow: maxRow}, nil
}

type rowFormat int

// The formats of files of rows.
const (
	CSV   rowFormat = iota
	lines           // one object per line
	array           // one JSON array of objects
)

// Format returns the format, by the first character of the file.
func (in *rowInput) Format() (rowFormat, error) {
	for n := 1; ; n++ {
		b, err := in.Peek(n)
		if err != nil {
			if err == io.EOF || err == bufio.ErrBufferFull {
				return 0, fmt.Errorf("%s is empty", in.Name)
			}
			return 0, fmt.Errorf("%s cannot be read: %w", in.Name, err)
		}
		switch b[n-1] {
		case ' ', '\t', '\r', '\n':
		case '[':
			return array, nil
		case '{':
			return lines, nil
		default:
			return CSV, nil
		}
	}
}

// maxRow is the length in bytes of the longest row that is read: longer ones mean that the file is of another format.
const maxRow = 64 << 20

type tooLongError struct{ limit int }

func (e *tooLongError) Error() string { return fmt.Sprintf("a row of more than %d MB", e.limit>>20) }

func (e *tooLongError) note() note.Note { return skipTooLong.New(e.limit >> 20) }

func (in *rowInput) tooLong() *tooLongError { return &tooLongError{in.MaxRow} }

// lineCounter counts lines for a decoder that reads ahead: it remembers the line breaks that the decoder has read but
// not yet processed.
type lineCounter struct {
	in     *rowInput
	read   int64   // bytes that the decoder has read
	done   int64   // bytes that it has processed
	line   int     // the line at done
	breaks []int64 // offsets of line breaks from done on
}

func newLineCounter(in *rowInput) *lineCounter { return &lineCounter{in: in, line: 1} }

func (l *lineCounter) Read(p []byte) (int, error) {
	if l.read-l.done > int64(l.in.MaxRow) {
		return 0, l.in.tooLong()
	}
	n, err := l.in.Read(p)
	for i := 0; i < n; i++ {
		next := bytes.IndexByte(p[i:n], '\n')
		if next < 0 {
			break
		}
		i += next
		l.breaks = append(l.breaks, l.read+int64(i))
	}
	l.read += int64(n)
	return n, err
}

// at returns the line of an offset; offsets must not decrease.
func (l *lineCounter) at(offset int64) int {
	n, _ := slices.BinarySearch(l.breaks, offset)
	l.line += n
	l.breaks = append(l.breaks[:0], l.breaks[n:]...)
	l.done = offset
	return l.line
}
