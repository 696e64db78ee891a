package wire

import "net/http"

// framing parses the framing of an HTTP/1 answer to count the bytes of its body: status line, headers and blank line,
// then either chunks (RFC 9112, section 7.1) or everything that follows. It does not validate, which net/http does: the
// count is correct for every answer that net/http accepts.
type framing struct {
	state   state
	total   int64 // bytes of the body so far
	left    int64 // bytes of the chunk still to come
	column  int   // in the line, CR left out
	match   int   // how much of transferEncoding the line begins with
	old     bool  // HTTP/1.0, which has no chunks
	code    int   // of the status
	chunked bool
}

type state uint8

const (
	inStatus   state = iota
	inHead           // header lines
	inSize           // a chunk's size
	inComment        // what else is on that line
	inChunk          // its bytes
	afterChunk       // the line end behind them
	inTrailer        // lines after the last chunk
	atEnd            // of a chunked body
	inRest           // a body that ends with its length, or with the connection
)

const transferEncoding = "transfer-encoding:" // net/http takes none but "chunked"

func (f *framing) begun() bool { return f.state > inHead }
func (f *framing) ended() bool { return f.state == atEnd }

// pass parses the next bytes.
func (f *framing) pass(p []byte) {
	for len(p) > 0 {
		switch f.state {
		case inChunk:
			n := min(int64(len(p)), f.left)
			f.total, f.left, p = f.total+n, f.left-n, p[n:]
			if f.left == 0 {
				f.state = afterChunk
			}
			continue
		case inRest:
			f.total += int64(len(p))
			return
		case atEnd:
			return
		}
		f.step(p[0])
		p = p[1:]
	}
}

// step parses a byte that is not part of the body.
func (f *framing) step(c byte) {
	switch f.state {
	case inStatus:
		f.status(c)
	case inHead:
		f.header(c)
	case inSize:
		f.size(c)
	case inComment:
		if c == '\n' {
			f.chunk()
		}
	case afterChunk:
		if c == '\n' {
			f.state = inSize
		}
	case inTrailer:
		if f.blank(c) {
			f.state = atEnd
		}
	}
}

// status reads "HTTP/1.1 200 OK".
func (f *framing) status(c byte) {
	switch {
	case c == '\n':
		f.state, f.column = inHead, 0
		return
	case f.column == len("HTTP/1."):
		f.old = c == '0'
	case f.column == len("HTTP/1.1 "):
		if c == ' ' { // one more than there should be, which net/http allows
			return
		}
	}
	if digit := f.column - len("HTTP/1.1 "); digit >= 0 && digit < 3 {
		f.code = 10*f.code + int(c-'0')
	}
	f.column++
}

// header finds a Transfer-Encoding and the blank line.
func (f *framing) header(c byte) {
	if f.column == 0 {
		f.match = 0
	}
	if f.match == f.column && f.match < len(transferEncoding) && c|0x20 == transferEncoding[f.match] {
		f.match++
		f.chunked = f.chunked || f.match == len(transferEncoding) && !f.old
	}
	switch {
	case !f.blank(c):
	case f.code >= 100 && f.code < 200: // an interim answer's, and another follows
		*f = framing{}
	case f.code == http.StatusNoContent, f.code == http.StatusNotModified: // they have no body, whatever the head says
		f.state = atEnd
	case f.chunked:
		f.state = inSize
	default:
		f.state = inRest
	}
}

// blank reports whether c ends a blank line.
func (f *framing) blank(c byte) bool {
	switch c {
	case '\n':
		empty := f.column == 0
		f.column = 0
		return empty
	case '\r':
	default:
		f.column++
	}
	return false
}

// size parses a chunk's size.
func (f *framing) size(c byte) {
	switch {
	case c >= '0' && c <= '9':
		f.left = f.left<<4 | int64(c-'0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		f.left = f.left<<4 | int64(c|0x20-'a'+10)
	case c == '\n':
		f.chunk()
	case c != '\r':
		f.state = inComment
	}
}

// chunk begins a chunk whose size was parsed; the last one has size 0.
func (f *framing) chunk() {
	f.state = inChunk
	if f.left <= 0 {
		f.state, f.column = inTrailer, 0
	}
}
