package api

import (
	"bytes"
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

// fieldReader reads one frame, a JSON object, from front to back. It allocates nothing for ordinary frames, and it
// never decodes a string: a cumulative text can be long.
//
// The first error ends all iterations, and [fieldReader.Close] returns it; the other methods return nothing more.
// Members named "error" and "object" at the top level are read here: they tell an error object inside a 200.
type fieldReader struct {
	json         jx.Decoder
	frame        []byte
	err          error
	unread       bool // the current value was not read yet
	errorMember  []byte
	objectMember []byte
}

// members iterates over the members of an object. A value that is not read is skipped.
type members struct {
	r    *fieldReader // nil for an iteration over nothing
	iter jx.ObjIter
	top  bool
}

// Open clears c and begins to read a frame.
func (r *fieldReader) Open(frame []byte, c *Chunk) members {
	*c = Chunk{Usage: noUsage}
	r.json.ResetBytes(frame)
	*r = fieldReader{json: r.json, frame: frame}
	if r.json.Next() != jx.Object {
		r.err = errNotObject
		if !jx.Valid(frame) {
			r.err = errNotJSON
		}
		return members{}
	}
	m := r.Object()
	m.top = true
	return m
}

// Close ends the reading of a frame. done means that what was read is of no use: the frame is not a JSON object, which
// is the error, or it is an error object, whose message is then in c.
func (r *fieldReader) Close(c *Chunk) (done bool, err error) {
	if r.err == nil && r.json.Skip() != io.EOF {
		r.err = errNotJSON
	}
	switch {
	case r.err != nil:
		if r.err != errNotObject {
			r.err = errNotJSON // the frame itself, in the message, says more than jx's byte offsets
		}
		return true, fmt.Errorf("%w: %s", r.err, r.frame[:min(len(r.frame), maxMessage)])
	case isErrorObject(r.errorMember, r.objectMember):
		c.Error = ErrorText(r.frame)
		return true, nil
	}
	return false, nil
}

func (m *members) Next() bool {
	if m.r == nil {
		return false
	}
	for m.r.skipUnread() {
		if !m.iter.Next() {
			m.r.fail(m.iter.Err())
			return false
		}
		m.r.unread = true
		switch {
		case m.top && string(m.iter.Key()) == "error":
			m.r.errorMember = m.r.Value()
		case m.top && string(m.iter.Key()) == "object":
			m.r.objectMember = m.r.Value()
		default:
			return true
		}
	}
	return false
}

// Key returns the name of the current member. It is valid until the value is read.
func (m *members) Key() []byte { return m.iter.Key() }

// NotObject reports whether the value was no object.
func (m *members) NotObject() bool { return m.r == nil }

// skipUnread returns false after an error.
func (r *fieldReader) skipUnread() bool {
	if r.unread {
		r.Value()
	}
	return r.err == nil
}

func (r *fieldReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Value reads a value and returns it as it stands in the frame; nil after an error.
func (r *fieldReader) Value() []byte {
	r.unread = false
	v, err := r.json.Raw()
	if err != nil {
		r.fail(err)
		return nil
	}
	return v
}

// Object reads the members of an object; any other value has none.
func (r *fieldReader) Object() members {
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

// elements is members for a list.
type elements struct {
	r    *fieldReader // nil for an iteration over nothing
	iter jx.ArrIter
}

// List reads the elements of a list; any other value has none.
func (r *fieldReader) List() elements {
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

func (e *elements) Next() bool {
	if e.r == nil || !e.r.skipUnread() {
		return false
	}
	if !e.iter.Next() {
		e.r.fail(e.iter.Err())
		return false
	}
	e.r.unread = true
	return true
}

// Length returns how many elements a list has; 0 and false for any other value.
func (r *fieldReader) Length() (n int, list bool) {
	list = r.json.Next() == jx.Array
	for e := r.List(); e.Next(); {
		n++
	}
	return n, list
}

// Text returns a string's content with its escapes; nil for any other value.
func (r *fieldReader) Text() []byte {
	v := r.Value()
	if len(v) < 2 || v[0] != '"' {
		return nil
	}
	return v[1 : len(v)-1]
}

const maxCount = 1 << 40 // the largest token count that is believed

// Count returns a count; Unknown for any other value, and for a number that no count can be.
func (r *fieldReader) Count() int {
	v := r.Value()
	if len(v) == 0 || v[0] < '0' || v[0] > '9' {
		return Unknown
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f > maxCount || f != math.Trunc(f) {
		return Unknown
	}
	return int(f)
}

func isDone(frame []byte) bool { return string(bytes.TrimSpace(frame)) == "[DONE]" }

func readDetail(r *fieldReader, key string) int {
	n := Unknown
	for m := r.Object(); m.Next(); {
		if string(m.Key()) == key {
			n = r.Count()
		}
	}
	return n
}

// finishReason allocates nothing for the usual reasons.
func finishReason(raw []byte) string {
	switch string(raw) {
	case "":
		return ""
	case "length":
		return "length"
	case "stop":
		return "stop"
	case "tool_calls":
		return "tool_calls"
	}
	return string(Unescape(bytes.Clone(raw)))
}
