package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/go-faster/jx"
)

var (
	errNotJSON   = errors.New("a chunk is not JSON")
	errNotObject = errors.New("a chunk is not a JSON object")
)

// reader reads one frame, a JSON object, from front to back. It allocates nothing for ordinary frames, and it never
// decodes a string: a cumulative text can be long.
//
// The first error ends all iterations, and [reader.close] returns it; the other methods return nothing more.
// Members named "error" and "object" at the top level are kept aside: they tell an error object inside a 200.
type reader struct {
	json   jx.Decoder
	frame  []byte
	err    error
	unread bool // the iteration is at a value that was not read yet
	fault  []byte
	kind   []byte
}

// members iterates over the members of an object. A value that is not read is skipped.
type members struct {
	r    *reader // nil for an iteration over nothing
	iter jx.ObjIter
	top  bool
}

// open clears c and begins to read a frame.
func (r *reader) open(frame []byte, c *Chunk) members {
	*c = Chunk{Usage: NoUsage}
	r.json.ResetBytes(frame)
	*r = reader{json: r.json, frame: frame}
	if r.json.Next() != jx.Object {
		r.err = errNotObject
		if !jx.Valid(frame) {
			r.err = errNotJSON
		}
		return members{}
	}
	m := r.object()
	m.top = true
	return m
}

// close ends the reading of a frame. It reports whether the frame holds nothing else, because it is not a JSON object,
// which is the error, or because it is an error object, whose message it puts into c.
func (r *reader) close(c *Chunk) (done bool, err error) {
	if r.err == nil && r.json.Skip() != io.EOF {
		r.err = errNotJSON
	}
	switch {
	case r.err != nil:
		if r.err != errNotObject {
			r.err = errNotJSON // jx's own words name byte offsets, which help nobody here
		}
		return true, fmt.Errorf("%w: %s", r.err, r.frame[:min(len(r.frame), maxMessage)])
	case isErrorObject(r.fault, r.kind):
		c.Error = ErrorText(r.frame)
		return true, nil
	}
	return false, nil
}

// isErrorObject reports whether an object with the given members "error" and "object" is an error, in the ways that
// servers have: an "error" that says something, or an "object" named "error".
func isErrorObject(fault, kind []byte) bool {
	switch string(fault) {
	case "", "null", "false", `""`:
		return string(kind) == `"error"`
	}
	return true
}

// next goes to the next member, and reports whether there is one.
func (m *members) next() bool {
	if m.r == nil {
		return false
	}
	for m.r.rest() {
		if !m.iter.Next() {
			m.r.fail(m.iter.Err())
			return false
		}
		m.r.unread = true
		switch {
		case m.top && string(m.iter.Key()) == "error":
			m.r.fault = m.r.value()
		case m.top && string(m.iter.Key()) == "object":
			m.r.kind = m.r.value()
		default:
			return true
		}
	}
	return false
}

// key is the name of the current member. It is valid until the value is read.
func (m *members) key() []byte { return m.iter.Key() }

// rest skips a value that was not read, and reports whether reading can go on.
func (r *reader) rest() bool {
	if r.unread {
		r.value()
	}
	return r.err == nil
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// value reads a value and returns it as it stands in the frame; nil after an error.
func (r *reader) value() []byte {
	r.unread = false
	v, err := r.json.Raw()
	if err != nil {
		r.fail(err)
		return nil
	}
	return v
}

// object reads the members of an object. Over any other value it iterates not at all.
func (r *reader) object() members {
	if r.json.Next() != jx.Object {
		return members{}
	}
	r.unread = false
	iter, err := r.json.ObjIter()
	if err != nil {
		r.fail(err)
		return members{}
	}
	return members{r: r, iter: iter}
}

// elements iterates over the elements of a list. A value that is not read is skipped.
type elements struct {
	r    *reader // nil for an iteration over nothing
	iter jx.ArrIter
}

// list reads the elements of a list. Over any other value it iterates not at all.
func (r *reader) list() elements {
	if r.json.Next() != jx.Array {
		return elements{}
	}
	r.unread = false
	iter, err := r.json.ArrIter()
	if err != nil {
		r.fail(err)
		return elements{}
	}
	return elements{r: r, iter: iter}
}

// next goes to the next element, and reports whether there is one.
func (e *elements) next() bool {
	if e.r == nil || !e.r.rest() {
		return false
	}
	if !e.iter.Next() {
		e.r.fail(e.iter.Err())
		return false
	}
	e.r.unread = true
	return true
}

// length reads a list and returns how many elements it has; 0 for any other value, for which list is false.
func (r *reader) length() (n int, list bool) {
	list = r.json.Next() == jx.Array
	for e := r.list(); e.next(); {
		n++
	}
	return n, list
}

// only reads a value, or the first element of a list: some servers wrap single values. It is nil for an empty list.
func (r *reader) only() (first []byte) {
	if r.json.Next() != jx.Array {
		return r.value()
	}
	for e := r.list(); e.next(); {
		if v := r.value(); first == nil {
			first = v
		}
	}
	return first
}

// text reads a string and returns its content as it stands, escapes included; nil for any other value.
func (r *reader) text() []byte { return textOf(r.value()) }

// isTrue reads a value and reports whether it is true.
func (r *reader) isTrue() bool { return string(r.value()) == "true" }

// count reads a count; Unknown for any other value.
func (r *reader) count() int { return countOf(r.value()) }

// textOf returns a string's content as it stands, escapes included; nil for any other value.
func textOf(v []byte) []byte {
	if len(v) < 2 || v[0] != '"' {
		return nil
	}
	return v[1 : len(v)-1]
}

// maxCount is the largest token count that is believed.
const maxCount = 1 << 40

// countOf returns a number as a count; Unknown where it is not a number, or one that no count can be.
func countOf(v []byte) int {
	if len(v) == 0 || v[0] < '0' || v[0] > '9' {
		return Unknown
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f > maxCount || f != math.Trunc(f) {
		return Unknown
	}
	return int(f)
}

// isDone reports whether a frame is the terminator of OpenAI's APIs.
func isDone(frame []byte) bool { return string(bytes.TrimSpace(frame)) == "[DONE]" }

// Unescape returns the text of a JSON string's content as it stands in a document, such as [Chunk.Raw] or several of
// them in a row. Surrogates without their other half and bytes that are not UTF-8 become U+FFFD.
func Unescape(raw []byte) []byte {
	var text string
	quoted := append(append([]byte{'"'}, raw...), '"')
	if json.Unmarshal(quoted, &text) != nil {
		return raw // it was no string's content
	}
	return append(raw[:0], text...)
}
