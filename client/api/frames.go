package api

import (
	"bytes"
	"errors"
	"time"
)

// maxFrame is the size, in bytes, of the largest frame that a FrameReader accepts. The largest that an engine sends is
// a whole prompt: llama.cpp's last chunk repeats it, and a million tokens are about 6 MB. It bounds the memory that a
// faulty server can claim.
const maxFrame = 16 << 20

const maxSavedBuffer = 64 << 10 // a larger buffer is not kept for the next stream

// ErrTooLong is the error for a frame, or a line, longer than maxFrame.
var ErrTooLong = errors.New("a frame is longer than 16 MB")

// Frame is one event's data.
type Frame struct {
	Data []byte // valid until the next call of Next; may be changed by the caller
	Arrival
	Error   bool // from an "event: error", an "error:" line, or a line that no event stream has
	Partial bool // the stream ended before the line did: Data may be cut short
}

// Arrival is when bytes arrived, and with which receive. A frame has that of its last line of data, even where the
// blank line that ends the event arrived later.
type Arrival struct {
	At      time.Duration
	Receive int64
}

// FrameReader divides one stream after another into frames, without a look into them, and without an allocation for
// each. The zero FrameReader must be Reset before use.
//
// It follows the HTML standard (section 9.2.6, interpreting an event stream), with three exceptions that servers need:
// a last event without a blank line is delivered, and so are the line "error: {...}" of old llama.cpp servers, and a
// line that has no field at all, with which proxies say in the middle of a stream that the server has gone.
type FrameReader struct {
	buf           []byte // what was fed: the caller's piece where nothing was left over, else saved
	saved         []byte
	pos           int // buf[pos:] is not yet cut
	scanned       int // buf[pos:scanned] holds no line end
	firstLineRead bool
	afterCR       bool // the last line ended in CR: an LF at pos belongs to it
	newest        Arrival

	event    event
	returned bool // the event is a frame that Next has returned
}

// event is the one that is being read. Its data are buf[start:end], lines joined.
type event struct {
	start, end int
	started    bool
	error      bool
	partial    bool
	arrival    Arrival
}

// Reset prepares r for another stream. It keeps a buffer.
func (r *FrameReader) Reset() {
	saved := r.saved
	if cap(saved) > maxSavedBuffer {
		saved = nil
	}
	*r = FrameReader{saved: saved[:0]}
}

// Feed adds bytes of the stream that arrived together. They must stay as they are until Next returns false. The error
// is ErrTooLong.
func (r *FrameReader) Feed(p []byte, arrival Arrival) error {
	r.newest = arrival
	if len(r.saved) == 0 {
		r.buf = p
		return nil
	}
	need := len(r.saved) + len(p)
	if need > maxFrame {
		return ErrTooLong
	}
	if need > cap(r.saved) {
		r.saved = append(make([]byte, 0, min(max(2*cap(r.saved), need), maxFrame)), r.saved...)
	}
	r.saved = append(r.saved, p...)
	r.buf = r.saved
	return nil
}

// Next returns the next frame with data; false where more bytes are needed.
func (r *FrameReader) Next() (f Frame, ok bool) {
	r.dropReturned()
	for {
		from, to, ok := r.line()
		if !ok {
			r.saveRest()
			return Frame{}, false
		}
		if r.takeLine(from, to) {
			return r.frame(), true
		}
	}
}

// Last returns what is left when the stream has ended and Next returns no more. A line without its end counts only
// where the stream is complete: a broken connection can cut a line anywhere.
func (r *FrameReader) Last(complete bool) (f Frame, ok bool) {
	r.dropReturned()
	if complete && r.pos < len(r.buf) {
		from, to := r.skipBOM(r.pos, len(r.buf))
		r.pos, r.scanned = to, to
		r.takeLine(from, to)
		r.event.partial = true
	}
	if r.event.started && !r.dropBlank() {
		return r.frame(), true
	}
	return Frame{}, false
}

func (r *FrameReader) dropReturned() {
	if r.returned {
		r.event, r.returned = event{}, false
	}
}

// line cuts the next whole line, buf[from:to], off the buffer.
func (r *FrameReader) line() (from, to int, ok bool) {
	if r.afterCR && r.pos < len(r.buf) {
		r.afterCR = false
		if r.buf[r.pos] == '\n' {
			r.pos++
			r.scanned = max(r.scanned, r.pos)
		}
	}
	rest := r.buf[r.scanned:]
	n := bytes.IndexByte(rest, '\n')
	if n >= 0 {
		rest = rest[:n]
	}
	if cr := bytes.IndexByte(rest, '\r'); cr >= 0 {
		n, r.afterCR = cr, true // not waiting for an LF that may never come
	}
	if n < 0 {
		r.scanned = len(r.buf)
		return 0, 0, false
	}
	from, to = r.pos, r.scanned+n
	r.pos = to + 1
	r.scanned = r.pos
	from, to = r.skipBOM(from, to)
	return from, to, true
}

func (r *FrameReader) skipBOM(from, to int) (int, int) {
	if !r.firstLineRead && bytes.HasPrefix(r.buf[from:to], []byte("\xef\xbb\xbf")) {
		from += 3
	}
	r.firstLineRead = true
	return from, to
}

// takeLine returns whether the line buf[from:to] completes the frame.
func (r *FrameReader) takeLine(from, to int) bool {
	line := r.buf[from:to]
	switch {
	case len(line) == 0:
		return !r.dropBlank()
	case bytes.HasPrefix(line, []byte("data:")):
		r.addData(skipSpace(r.buf, from+len("data:"), to), to)
	case bytes.HasPrefix(line, []byte("error:")):
		r.event.error = true
		r.addData(skipSpace(r.buf, from+len("error:"), to), to)
	case bytes.HasPrefix(line, []byte("event:")):
		r.event.error = string(bytes.TrimSpace(line[len("event:"):])) == "error"
	case string(line) == "data":
		r.addData(to, to)
	case !isField(line):
		r.event.error = true
		r.addData(from, to)
		return true
	}
	return false // comments, pings, id:, retry: and unknown fields
}

// isField reports whether a line is a comment, or a field, known or not: the name of a field is one word.
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

// addData appends the value buf[from:to] to the event's data. It is behind the data, with room for the newline.
func (r *FrameReader) addData(from, to int) {
	e := &r.event
	if e.started {
		r.buf[e.end] = '\n'
		e.end += 1 + copy(r.buf[e.end+1:], r.buf[from:to])
	} else {
		e.started, e.start, e.end = true, from, to
	}
	e.arrival = r.newest
}

// dropBlank drops an event whose data are only white space, as in a keep-alive, and reports whether it did. An error
// without data stays, with empty data.
func (r *FrameReader) dropBlank() bool {
	if r.event.error && !r.event.started {
		r.addData(r.pos, r.pos)
		return false
	}
	if len(bytes.TrimSpace(r.buf[r.event.start:r.event.end])) > 0 {
		return false
	}
	r.event = event{}
	return true
}

func (r *FrameReader) frame() Frame {
	e := &r.event
	r.returned = true
	return Frame{Data: r.buf[e.start:e.end], Arrival: e.arrival, Error: e.error, Partial: e.partial}
}

// saveRest keeps what is still needed of the caller's bytes.
func (r *FrameReader) saveRest() {
	from := r.pos
	if r.event.started {
		from = r.event.start
		r.event.start, r.event.end = 0, r.event.end-from
	}
	if from > 0 || len(r.saved) == 0 {
		r.saved = append(r.saved[:0], r.buf[from:]...)
		r.buf = r.saved
	}
	r.pos -= from
	r.scanned -= from
}
