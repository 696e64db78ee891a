package wire

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// framing takes the framing off the body of an HTTP/1 answer: chunks (RFC 9112, section 7.1), a length, or none, where
// the body ends with the connection.
type framing struct {
	state     state
	remaining int64  // bytes of the chunk, or of the body, still to come
	line      []byte // the beginning of a line that was cut
	overhead  int    // bytes of extensions and trailers, less an allowance for each chunk
}

type state uint8

const (
	atEnd      state = iota
	inSize           // a chunk's size
	inChunk          // its bytes
	inChunkEnd       // the line end behind them
	inTrailer        // lines after the last chunk
	inLength
	inUnbounded // a body that ends with the connection
)

const (
	maxLine     = 4096     // of a chunk's size with its extensions, or of a trailer
	maxOverhead = 16 << 10 // of extensions and trailers: a server must not keep a request busy with them
)

var (
	errChunk    = protocolError("malformed chunked encoding")
	errOverhead = protocolError("chunked encoding contains too much that is no data")
)

func (f *framing) begin(head *http.Response) {
	*f = framing{line: f.line[:0]}
	switch code := head.StatusCode; {
	case code < 200, code == http.StatusNoContent, code == http.StatusNotModified: // no body, whatever the head says
	case len(head.TransferEncoding) > 0:
		f.state = inSize
	case head.ContentLength > 0:
		f.state, f.remaining = inLength, head.ContentLength
	case head.ContentLength < 0:
		f.state = inUnbounded
	}
}

func (f *framing) ended() bool { return f.state == atEnd }

func (f *framing) endError(err error) error {
	if err == io.EOF && f.state != inUnbounded {
		return io.ErrUnexpectedEOF
	}
	return err
}

// next returns the next piece of the body in p, none where more bytes are needed, and the rest of p. The error is
// io.EOF at the body's end.
func (f *framing) next(p []byte) (piece, rest []byte, err error) {
	for {
		switch f.state {
		case atEnd:
			return nil, p, io.EOF
		case inUnbounded:
			return p, nil, nil
		case inLength, inChunk:
			n := min(int64(len(p)), f.remaining)
			f.remaining -= n
			if f.remaining == 0 && f.state == inChunk {
				f.state = inChunkEnd
			} else if f.remaining == 0 {
				f.state = atEnd
			}
			return p[:n], p[n:], nil
		}
		line, rest, whole := f.cutLine(p)
		if !whole {
			if len(f.line) > maxLine {
				err = errOverhead
			}
			return nil, nil, err
		}
		p = rest
		if err := f.takeLine(line); err != nil {
			return nil, p, err
		}
	}
}

// cutLine cuts the next line off p, without its line feed. The beginning of one is kept in f.line.
func (f *framing) cutLine(p []byte) (line, rest []byte, whole bool) {
	n := bytes.IndexByte(p, '\n')
	if n < 0 {
		f.line = append(f.line, p...)
		return nil, nil, false
	}
	line = p[:n]
	if len(f.line) > 0 {
		f.line = append(f.line, line...)
		line = f.line
		f.line = f.line[:0]
	}
	return line, p[n+1:], true
}

// takeLine reads a line that is not data. It must end with CR LF: proxies may read a line feed alone differently.
func (f *framing) takeLine(line []byte) error {
	text, cr := bytes.CutSuffix(line, []byte("\r"))
	if !cr {
		return errChunk
	}
	switch f.state {
	case inChunkEnd:
		if len(text) > 0 {
			return errChunk
		}
		f.state = inSize
		return nil
	case inTrailer:
		if len(text) == 0 {
			f.state = atEnd
			return nil
		}
		f.overhead += len(line)
	case inSize:
		if bytes.IndexByte(text, '\r') >= 0 {
			return errChunk
		}
		size, extension, _ := bytes.Cut(bytes.TrimRight(text, " \t"), []byte(";"))
		n, err := chunkSize(size)
		if err != nil {
			return err
		}
		f.overhead = max(0, f.overhead+len(size)+len(extension)-16-int(min(2*n, maxOverhead)))
		f.state, f.remaining = inChunk, n
		if n == 0 {
			f.state = inTrailer
		}
	}
	if f.overhead > maxOverhead || len(line) > maxLine {
		return errOverhead
	}
	return nil
}

func chunkSize(digits []byte) (int64, error) {
	n, err := strconv.ParseUint(string(digits), 16, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || n > 1<<62:
		return 0, protocolError("http chunk length too large")
	case err != nil || digits[0] == '+' || bytes.ContainsRune(digits, '_'):
		return 0, protocolError("invalid byte in chunk length")
	}
	return int64(n), nil
}
