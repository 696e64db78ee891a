package recorded

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"llmsweep/client/note"
)

// input is a data file being read, unpacked and without its byte order mark.
type input struct {
	name string
	*bufio.Reader
	most  int // bytes of a row; mostRow but in tests
	close func() error
}

// open opens a file. A gzip file is unpacked while it is read, whatever its name.
func open(path string) (*input, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err // it names the path
	}
	in, err := newInput(path, f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	in.close = f.Close
	return in, nil
}

// newInput returns an input that reads from r.
func newInput(name string, r io.Reader) (*input, error) {
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
	return &input{name: name, Reader: b, most: mostRow}, nil
}

// format is the format of a file.
type format int

const (
	formatCSV   format = iota
	formatLines        // one object per line
	formatArray        // one JSON array of objects
)

// format returns the format, by the first character of the file.
func (in *input) format() (format, error) {
	for n := 1; ; n++ {
		b, err := in.Peek(n)
		if err != nil {
			if err == io.EOF || err == bufio.ErrBufferFull {
				return 0, fmt.Errorf("%s is empty", in.name)
			}
			return 0, fmt.Errorf("%s cannot be read: %w", in.name, err)
		}
		switch b[n-1] {
		case ' ', '\t', '\r', '\n':
		case '[':
			return formatArray, nil
		case '{':
			return formatLines, nil
		default:
			return formatCSV, nil
		}
	}
}

// mostRow is the length in bytes of the longest row that is read: longer ones mean that the file is of another format.
const mostRow = 64 << 20

// tooLongError is the error for a row that is too long.
type tooLongError struct{ most int }

func (e *tooLongError) Error() string { return fmt.Sprintf("a row of more than %d MB", e.most>>20) }

func (e *tooLongError) note() note.Note { return skipTooLong.New(e.most >> 20) }

func (in *input) tooLong() *tooLongError { return &tooLongError{in.most} }

// lines counts lines for a decoder that reads ahead: it remembers the line breaks that the decoder has read but not yet
// processed.
type lines struct {
	in     *input
	read   int64   // bytes that the decoder has read
	done   int64   // bytes that it has processed
	line   int     // the line at done
	breaks []int64 // offsets of line breaks from done on
}

func newLines(in *input) *lines { return &lines{in: in, line: 1} }

func (l *lines) Read(p []byte) (int, error) {
	if l.read-l.done > int64(l.in.most) {
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
func (l *lines) at(offset int64) int {
	n, _ := slices.BinarySearch(l.breaks, offset)
	l.line += n
	l.breaks = append(l.breaks[:0], l.breaks[n:]...)
	l.done = offset
	return l.line
}
