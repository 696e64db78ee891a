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

// FieldReader reads one frame, a JSON object, from front to back. It allocates nothing for ordinary frames, and it never
// decodes a string: a cumulative text can be long.
//
// The first error ends all iterations, and [Reader.Close] returns it; the other methods return nothing more.
// Members named "error" and "object" at the top level are kept aside: they tell an error object inside a 200.
type FieldReader struct {
	json   jx.Decoder
	frame  []byte
	err    error
	unread bool // the iteration is at a value that was not read yet
	fault  []byte
	kind   []byte
}

// Members iterates over the members of an object. A value that is not read is skipped.
type Members struct {
	r    *FieldReader // nil for an iteration over nothing
	iter jx.ObjIter
	top  bool
}

// Open clears c and begins to read a frame.
func (r *FieldReader) Open(frame []byte, c *Chunk) Members {
	*c = Chunk{Usage: NoUsage}
	r.json.ResetBytes(frame)
	*r = FieldReader{json: r.json, frame: frame}
	if r.json.Next() != jx.Object {
		r.err = errNotObject
		if !jx.Valid(frame) {
			r.err = errNotJSON
		}
		return Members{}
	}
	m := r.Object()
	m.top = true
	return m
}

// Close ends the reading of a frame. It reports whether the frame holds nothing else, because it is not a JSON object,
// which is the error, or because it is an error object, whose message it puts into c.
func (r *FieldReader) Close(c *Chunk) (done bool, err error) {
	if r.err == nil && r.json.Skip() != io.EOF {
		r.err = errNotJSON
	}
	switch {
	case r.err != nil:
		if r.err != errNotObject {
			r.err = errNotJSON // the frame itself, in the message, says more than jx's byte offsets
		}
		return true, fmt.Errorf("%w: %s", r.err, r.frame[:min(len(r.frame), MaxMessage)])
	case IsErrorObject(r.fault, r.kind):
		c.Error = ErrorText(r.frame)
		return true, nil
	}
	return false, nil
}

// Next goes to the next member, and reports whether there is one.
func (m *Members) Next() bool {
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
			m.r.fault = m.r.Value()
		case m.top && string(m.iter.Key()) == "object":
			m.r.kind = m.r.Value()
		default:
			return true
		}
	}
	return false
}

// Key returns the name of the current member. It is valid until the value is read.
func (m *Members) Key() []byte { return m.iter.Key() }

// None reports whether the value was no object.
func (m *Members) None() bool { return m.r == nil }

// rest skips a value that was not read, and reports whether reading can go on.
func (r *FieldReader) rest() bool {
	if r.unread {
		r.Value()
	}
	return r.err == nil
}

func (r *FieldReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Value reads a value and returns it as it stands in the frame; nil after an error.
func (r *FieldReader) Value() []byte {
	r.unread = false
	v, err := r.json.Raw()
	if err != nil {
		r.fail(err)
		return nil
	}
	return v
}

// Object reads the members of an object. Over any other value it iterates not at all.
func (r *FieldReader) Object() Members {
	if r.json.Next() != jx.Object {
		return Members{}
	}
	r.unread = false
	iter, err := r.json.ObjIter()
	if err != nil {
		r.fail(err)
		return Members{}
	}
	return Members{r: r, iter: iter}
}

// Elements iterates over the elements of a list. A value that is not read is skipped.
type Elements struct {
	r    *FieldReader // nil for an iteration over nothing
	iter jx.ArrIter
}

// List reads the elements of a list. Over any other value it iterates not at all.
func (r *FieldReader) List() Elements {
	if r.json.Next() != jx.Array {
		return Elements{}
	}
	r.unread = false
	iter, err := r.json.ArrIter()
	if err != nil {
		r.fail(err)
		return Elements{}
	}
	return Elements{r: r, iter: iter}
}

// Next goes to the next element, and reports whether there is one.
func (e *Elements) Next() bool {
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

// Length reads a list and returns how many elements it has; 0 for any other value, for which list is false.
func (r *FieldReader) Length() (n int, list bool) {
	list = r.json.Next() == jx.Array
	for e := r.List(); e.Next(); {
		n++
	}
	return n, list
}

// Only reads a value, or the first element of a list: some servers wrap single values. It is nil for an empty list.
func (r *FieldReader) Only() (first []byte) {
	if r.json.Next() != jx.Array {
		return r.Value()
	}
	for e := r.List(); e.Next(); {
		if v := r.Value(); first == nil {
			first = v
		}
	}
	return first
}

// Text reads a string and returns its content as it stands, escapes included; nil for any other value.
func (r *FieldReader) Text() []byte { return TextOf(r.Value()) }

// IsTrue reads a value and reports whether it is true.
func (r *FieldReader) IsTrue() bool { return string(r.Value()) == "true" }

// Count reads a count; api.Unknown for any other value.
func (r *FieldReader) Count() int { return CountOf(r.Value()) }

// TextOf returns a string's content as it stands, escapes included; nil for any other value.
func TextOf(v []byte) []byte {
	if len(v) < 2 || v[0] != '"' {
		return nil
	}
	return v[1 : len(v)-1]
}

// Filled returns an object or a list; nil for any other value.
func Filled(v []byte) []byte {
	if len(v) == 0 || v[0] != '{' && v[0] != '[' {
		return nil
	}
	return v
}

// maxCount is the largest token count that is believed.
const maxCount = 1 << 40

// CountOf returns a number as a count; api.Unknown where it is not a number, or one that no count can be.
func CountOf(v []byte) int {
	if len(v) == 0 || v[0] < '0' || v[0] > '9' {
		return Unknown
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f > maxCount || f != math.Trunc(f) {
		return Unknown
	}
	return int(f)
}

// IsDone reports whether a frame is the terminator of OpenAI's APIs.
func IsDone(frame []byte) bool { return string(bytes.TrimSpace(frame)) == "[DONE]" }

// ReadDetail reads an object and returns the count under one of its keys.
func ReadDetail(r *FieldReader, key string) int {
	n := Unknown
	for m := r.Object(); m.Next(); {
		if string(m.Key()) == key {
			n = r.Count()
		}
	}
	return n
}
