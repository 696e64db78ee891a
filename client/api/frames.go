// Divides a stream of server-sent events into frames.

package api

import (
	"bytes"
	"errors"
	"io"
)

// maxFrame is the size, in bytes, of the largest frame that a FrameReader accepts. The largest that an engine sends is a whole prompt:
// llama.cpp's last chunk repeats it, and a million tokens are about 6 MB. It bounds the memory that a faulty server can claim.
const maxFrame = 16 << 20

const (
	firstBuffer = 8 << 10  // room for many events; grown for larger ones
	maxRead     = 64 << 10 // asked of one read, which bounds how often a byte is looked at
	maxEmpty    = 100      // reads without bytes and without error in a row before io.ErrNoProgress
)

// ErrTooLong is the error for a frame, or a line, longer than maxFrame.
var ErrTooLong = errors.New("a frame is longer than 16 MB")

// Frame is one event's data.
type Frame struct {
	Data []byte // valid until the next call of Next; may be changed by the caller
	// End is the offset in the stream after the last line of Data. The frame arrived with byte End-1, even where the
	// blank line that ends an event arrived later.
	End   int64
	Error bool // it is an error: of an "event: error", an "error:" line, or a line that no event stream has
	Open  bool // the stream ended before the line did: Data may be cut short
}

// FrameReader divides one stream after another. It finds where each frame ends in the stream, does not look into frames, and allocates
// nothing for each. The zero FrameReader must be Reset before use.
//
// It follows the HTML standard (section 9.2.6, interpreting an event stream), with three exceptions that servers need: a
// last event without a blank line is delivered, and so are the line "error: {...}" of old llama.cpp servers, and a line that
// has no field at all, with which proxies say in the middle of a stream that the server has gone.
type FrameReader struct {
	src io.Reader
	err error // what the source ended with

	buf     []byte
	pos     int   // buf[pos:end] is not yet cut
	seen    int   // buf[pos:seen] holds no line end
	end     int   // end of what was read
	base    int64 // offset of buf[0] in the stream
	afterCR bool  // the line before ended in CR, so an LF here belongs to it

	event event
}

// event is the event that is being read. Its data are buf[from:to], lines joined.
type event struct {
	from, to int
	started  bool
	error    bool
	open     bool
	end      int64
}

// Reset makes r read frames from src. It keeps the buffer.
func (r *FrameReader) Reset(src io.Reader) {
	buf := r.buf
	if buf == nil || len(buf) > maxRead { // a giant event's buffer is not kept for the next stream
		buf = make([]byte, firstBuffer)
	}
	*r = FrameReader{src: src, buf: buf}
}

// Peek returns the bytes that were read and are in no frame yet. Where there are none it reads once. The bytes can be
// few; there are none at the end of the stream.
func (r *FrameReader) Peek() []byte {
	if r.pos == r.end && r.err == nil {
		r.fill()
	}
	return r.buf[r.pos:r.end]
}

// Next returns the next frame with data. At the end it returns the source's error, io.EOF for a clean end. All frames that
// arrived whole before an error are returned first.
func (r *FrameReader) Next() (Frame, error) {
	r.event = event{}
	for {
		from, to, ok := r.line()
		switch {
		case ok:
			if r.take(from, to) {
				return r.frame(), nil
			}
		case r.err == nil:
			r.fill()
		default:
			return r.finish()
		}
	}
}

// line takes the next whole line from the buffer and returns the bounds of its text.
func (r *FrameReader) line() (from, to int, ok bool) {
	if r.afterCR && r.pos < r.end {
		r.afterCR = false
		if r.buf[r.pos] == '\n' {
			r.pos++
			r.seen = max(r.seen, r.pos)
		}
	}
	rest := r.buf[r.seen:r.end]
	n := bytes.IndexByte(rest, '\n')
	if n >= 0 {
		rest = rest[:n]
	}
	if cr := bytes.IndexByte(rest, '\r'); cr >= 0 {
		n, r.afterCR = cr, true // not waiting for an LF that may never come
	}
	if n < 0 {
		r.seen = r.end
		return 0, 0, false
	}
	from, to = r.pos, r.seen+n
	r.pos = to + 1
	r.seen = r.pos
	return r.trimmed(from, to)
}

// trimmed removes a byte order mark at the start of the stream.
func (r *FrameReader) trimmed(from, to int) (int, int, bool) {
	if r.base+int64(from) == 0 && bytes.HasPrefix(r.buf[from:to], []byte("\xef\xbb\xbf")) {
		from += 3
	}
	return from, to, true
}

// take adds a line to the event and reports whether the frame is now complete.
func (r *FrameReader) take(from, to int) bool {
	line := r.buf[from:to]
	switch {
	case len(line) == 0:
		return !r.blank()
	case bytes.HasPrefix(line, []byte("data:")):
		r.add(skipSpace(r.buf, from+len("data:"), to), to)
	case bytes.HasPrefix(line, []byte("error:")):
		r.event.error = true
		r.add(skipSpace(r.buf, from+len("error:"), to), to)
	case bytes.HasPrefix(line, []byte("event:")):
		r.event.error = string(bytes.TrimSpace(line[len("event:"):])) == "error"
	case string(line) == "data":
		r.add(to, to)
	case !isField(line):
		r.event.error = true
		r.add(from, to)
		return true
	}
	return false // comments, pings, id:, retry: and unknown fields
}

// isField reports whether a line is a comment or the field of an event, known or not. The name of a field is one word.
func isField(line []byte) bool {
	name, _, _ := bytes.Cut(line, []byte(":"))
	return !bytes.ContainsAny(bytes.TrimSpace(name), " <")
}

// skipSpace skips the one space that may follow a field's colon.
func skipSpace(buf []byte, from, to int) int {
	if from < to && buf[from] == ' ' {
		return from + 1
	}
	return from
}

// add appends a line's value to the event's data. The value is behind the data, with room for the newline.
func (r *FrameReader) add(from, to int) {
	e := &r.event
	if e.started {
		r.buf[e.to] = '\n'
		e.to += 1 + copy(r.buf[e.to+1:], r.buf[from:to])
	} else {
		e.started, e.from, e.to = true, from, to
	}
	e.end = r.base + int64(r.pos)
}

// blank reports whether the event's data are only white space, as in a keep-alive, and drops it then.
func (r *FrameReader) blank() bool {
	if r.event.error && !r.event.started { // an error that says nothing
		r.add(r.pos, r.pos)
		return false
	}
	if len(bytes.TrimSpace(r.buf[r.event.from:r.event.to])) > 0 {
		return false
	}
	r.event = event{}
	return true
}

// frame returns the event.
func (r *FrameReader) frame() Frame {
	e := &r.event
	return Frame{Data: r.buf[e.from:e.to], End: e.end, Error: e.error, Open: e.open}
}

// finish returns what is left when the source has ended, then the source's error. A line without its end counts only
// after a clean end: a broken connection can cut a line anywhere.
func (r *FrameReader) finish() (Frame, error) {
	if r.err == io.EOF && r.pos < r.end {
		from, to, _ := r.trimmed(r.pos, r.end)
		r.pos, r.seen = r.end, r.end
		r.take(from, to)
		r.event.open = true
	}
	if r.event.started && !r.blank() {
		return r.frame(), nil
	}
	return Frame{}, r.err
}

// fill makes room in the buffer and reads once.
func (r *FrameReader) fill() {
	r.compact()
	if r.end == len(r.buf) {
		if r.end >= maxFrame {
			r.err = ErrTooLong
			return
		}
		larger := make([]byte, min(2*len(r.buf), maxFrame))
		copy(larger, r.buf)
		r.buf = larger
	}
	for range maxEmpty {
		n, err := r.src.Read(r.buf[r.end:min(len(r.buf), r.end+maxRead)])
		r.end += n
		if r.err = err; n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// compact moves what is still needed to the front of the buffer.
func (r *FrameReader) compact() {
	keep := r.pos
	if r.event.started {
		keep = r.event.from
	}
	if keep == 0 {
		return
	}
	r.end = copy(r.buf, r.buf[keep:r.end])
	r.base += int64(keep)
	r.pos -= keep
	r.seen -= keep
	if r.event.started {
		r.event.from, r.event.to = 0, r.event.to-keep
	}
}
