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
	state state
	left  int64  // bytes of the chunk, or of the body, still to come
	line  []byte // the beginning of a line that was cut
	extra int    // bytes that are no data, beyond what chunks need
}

type state uint8

const (
	atEnd     state = iota
	inSize          // a chunk's size
	inChunk         // its bytes
	inBreak         // the line end behind them
	inTrailer       // lines after the last chunk
	inLength
	inRest // a body that ends with the connection
)

const (
	maxLine  = 4096     // of a chunk's size with its extensions, or of a trailer
	maxExtra = 16 << 10 // of extensions and trailers: a server must not keep a request busy with them
)

var (
	errChunk = protocolError("malformed chunked encoding")
	errExtra = protocolError("chunked encoding contains too much that is no data")
)

// begin prepares for the body of an answer.
func (f *framing) begin(head *http.Response) {
	*f = framing{line: f.line[:0]}
	switch code := head.StatusCode; {
	// they have none, whatever the head says
	case code < 200, code == http.StatusNoContent, code == http.StatusNotModified:
	case len(head.TransferEncoding) > 0:
		f.state = inSize
	case head.ContentLength > 0:
		f.state, f.left = inLength, head.ContentLength
	case head.ContentLength < 0:
		f.state = inRest
	}
}

// ended reports whether the body ended as its framing says.
func (f *framing) ended() bool { return f.state == atEnd }

// cut returns the error of a body whose connection ended with err.
func (f *framing) cut(err error) error {
	if err == io.EOF && f.state != inRest {
		return io.ErrUnexpectedEOF
	}
	return err
}

// next returns the next piece of the body in p, none where more bytes are needed, and what follows it. The error is
// io.EOF at the body's end.
func (f *framing) next(p []byte) (piece, rest []byte, err error) {
	for {
		switch f.state {
		case atEnd:
			return nil, p, io.EOF
		case inRest:
			return p, nil, nil
		case inLength, inChunk:
			n := min(int64(len(p)), f.left)
			if f.left -= n; f.left == 0 && f.state == inChunk {
				f.state = inBreak
			} else if f.left == 0 {
				f.state = atEnd
			}
			return p[:n], p[n:], nil
		}
		line, rest, whole := f.lineOf(p)
		if p = rest; !whole {
			if len(f.line) > maxLine {
				err = errExtra
			}
			return nil, nil, err
		}
		if err := f.take(line); err != nil {
			return nil, p, err
		}
	}
}

// lineOf cuts the next line from p, without its line feed.
func (f *framing) lineOf(p []byte) (line, rest []byte, whole bool) {
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

// take takes in a line that is not data. It must end with CR LF: others on the way may read a line feed alone
// differently.
func (f *framing) take(line []byte) error {
	text, cr := bytes.CutSuffix(line, []byte("\r"))
	if !cr {
		return errChunk
	}
	switch f.state {
	case inBreak:
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
		f.extra += len(line)
	case inSize:
		size, extension, _ := bytes.Cut(bytes.TrimRight(text, " \t"), []byte(";"))
		n, err := chunkSize(size)
		if err != nil {
			return err
		}
		f.extra = max(0, f.extra+len(size)+len(extension)-16-int(min(2*n, maxExtra)))
		f.state, f.left = inChunk, n
		if n == 0 {
			f.state = inTrailer
		}
	}
	if f.extra > maxExtra || len(line) > maxLine {
		return errExtra
	}
	return nil
}

// chunkSize parses a chunk's size.
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
