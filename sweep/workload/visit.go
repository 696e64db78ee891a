package workload

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"llmsweep/client/note"
)

// visitRow is called for each row of a file, in order, with the line where it begins. For a row that cannot be read,
// why is the reason, and there is no value. It returns false to stop.
type visitRow[T any] func(line int, value T, why note.Note) (more bool)

// truncation returns the reason to skip the last row read where the rest of a file cannot be read.
func truncation(err error) note.Note {
	var tooLong *tooLongError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return skipBrokenOff.New(nil)
	case errors.As(err, &tooLong):
		return tooLong.note()
	}
	return skipBrokenOff.New(err)
}

// untilDone also stops when ctx has ended; it looks every 256 rows.
func untilDone[T any](ctx context.Context, f visitRow[T]) visitRow[T] {
	n := 0
	return func(line int, value T, why note.Note) bool {
		n++
		return (n%256 != 0 || ctx.Err() == nil) && f(line, value, why)
	}
}

// eachElement visits the elements of a JSON array without reading it as a whole.
func eachElement(ctx context.Context, in *rowInput, f visitRow[gjson.Result]) error {
	f = untilDone(ctx, f)
	l := newLineCounter(in)
	dec := json.NewDecoder(l)
	if _, err := dec.Token(); err != nil {
		return fmt.Errorf("%s cannot be read: %w", in.Name, err)
	}
	var raw json.RawMessage // reused for each element: nothing else is kept
	for dec.More() {
		if err := dec.Decode(&raw); err != nil {
			f(l.at(elementOffset(dec)), gjson.Result{}, truncation(err))
			return ctx.Err()
		}
		line := l.at(dec.InputOffset() - int64(len(raw)))
		if !f(line, gjson.ParseBytes(raw), note.Note{}) {
			return ctx.Err()
		}
	}
	if _, err := dec.Token(); err != nil {
		f(l.at(elementOffset(dec)), gjson.Result{}, truncation(err))
	}
	return ctx.Err()
}

// elementOffset returns the offset, after the separator, of the element that a decoder could not read.
func elementOffset(dec *json.Decoder) int64 {
	var ahead [512]byte
	n, _ := io.ReadFull(dec.Buffered(), ahead[:])
	return dec.InputOffset() + int64(n-len(bytes.TrimLeft(ahead[:n], ", \t\r\n")))
}

func eachLine(ctx context.Context, in *rowInput, f visitRow[gjson.Result]) error {
	f = untilDone(ctx, f)
	var long []byte
	for line := 1; ; line++ {
		b, whole, err := in.line(&long)
		if err != nil && err != io.EOF {
			f(line, gjson.Result{}, truncation(err))
			return ctx.Err()
		}
		b = bytes.TrimSpace(b)
		more := true
		switch {
		case !whole:
			more = f(line, gjson.Result{}, in.tooLong().note())
		case len(b) == 0:
		case !gjson.ValidBytes(b):
			more = f(line, gjson.Result{}, skipNoJSONLine.New())
		default:
			more = f(line, gjson.ParseBytes(b), note.Note{})
		}
		if !more || err == io.EOF {
			return ctx.Err()
		}
	}
}

// line reads a line, its end included. Of a line that is too long it returns the beginning, and whole is false. long is
// a buffer that is reused from line to line.
func (in *rowInput) line(long *[]byte) (b []byte, whole bool, err error) {
	b, err = in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return b, true, err
	}
	whole = true
	*long = append((*long)[:0], b...)
	for err == bufio.ErrBufferFull {
		b, err = in.ReadSlice('\n')
		whole = whole && len(*long)+len(b) <= in.MaxRow
		if whole {
			*long = append(*long, b...)
		}
	}
	return *long, whole, err
}

// rowColumns are the columns of a CSV file by their names in the header, in lower case and without blanks around them.
type rowColumns map[string]int

func (c rowColumns) First(names ...string) int {
	for _, name := range names {
		if i, ok := c[name]; ok {
			return i
		}
	}
	return -1
}

// eachRow visits the rows of a CSV file below its header, which it hands to begin first. The fields are only valid
// until f returns.
func eachRow(ctx context.Context, in *rowInput, begin func(rowColumns) error, f visitRow[[]string]) error {
	f = untilDone(ctx, f)
	l := newLineCounter(in)
	r := csv.NewReader(l)
	r.ReuseRecord, r.FieldsPerRecord = true, -1
	header, err := r.Read()
	if err != nil {
		return fmt.Errorf("%s has no CSV header that can be read: %w", in.Name, err)
	}
	columns := rowColumns{}
	for i, name := range header {
		columns[strings.ToLower(strings.TrimSpace(name))] = i
	}
	width := len(header)
	if err := begin(columns); err != nil {
		return err
	}
	for {
		fields, err := r.Read()
		var bad *csv.ParseError
		more := true
		switch {
		case err == io.EOF:
			return ctx.Err()
		case errors.As(err, &bad):
			more = f(bad.StartLine, nil, skipNoCSV.New(bad.Err))
		case err != nil:
			f(l.at(r.InputOffset()), nil, truncation(err))
			return ctx.Err()
		default:
			line, _ := r.FieldPos(0)
			l.at(r.InputOffset())
			if len(fields) != width {
				more = f(line, nil, skipCSVFields.New())
			} else {
				more = f(line, fields, note.Note{})
			}
		}
		if !more {
			return ctx.Err()
		}
	}
}
