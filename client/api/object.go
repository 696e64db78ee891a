package api

import (
	"bytes"
	"fmt"
	"strconv"
)

// object walks the members of a JSON object that is known to be valid, from front to back. It allocates nothing but
// for keys with escapes in them, and it never unescapes a value: a cumulative text can be long.
type object struct {
	rest  []byte // from behind the last member on
	key   []byte
	value value
}

// value is a JSON value as it stands; nil where there is none.
type value []byte

// openObject checks that a frame is one JSON object.
func openObject(frame []byte) (object, error) {
	if !validJSON(frame) {
		return object{}, fmt.Errorf("%w: %s", errNotJSON, frame[:min(len(frame), maxMessage)])
	}
	v := value(bytes.TrimSpace(frame))
	if v[0] != '{' {
		return object{}, fmt.Errorf("%w: %s", errNotObject, frame[:min(len(frame), maxMessage)])
	}
	return v.object(), nil
}

// next goes to the next member.
func (o *object) next() bool {
	i := bytes.IndexByte(o.rest, '"')
	if i < 0 {
		return false
	}
	n := stringLen(o.rest[i:])
	o.key = o.rest[i+1 : i+n-1]
	if bytes.IndexByte(o.key, '\\') >= 0 {
		o.key = Unescape(bytes.Clone(o.key))
	}
	i += n
	i += bytes.IndexByte(o.rest[i:], ':') + 1
	for blank(o.rest[i]) {
		i++
	}
	n = valueLen(o.rest[i:])
	o.value, o.rest = value(o.rest[i:i+n:i+n]), o.rest[i+n:]
	return true
}

// object is the walk over v's members; over none where v is no object.
func (v value) object() object {
	if len(v) == 0 || v[0] != '{' {
		return object{}
	}
	return object{rest: v[1 : len(v)-1]}
}

// text is a string's content as it stands, escapes and all; nil where v is no string.
func (v value) text() []byte {
	if len(v) == 0 || v[0] != '"' {
		return nil
	}
	return v[1 : len(v)-1]
}

// isTrue reports whether v is true.
func (v value) isTrue() bool { return string(v) == "true" }

// isObject and isList tell the containers.
func (v value) isObject() bool { return len(v) > 0 && v[0] == '{' }
func (v value) isList() bool   { return len(v) > 0 && v[0] == '[' }

// only is v, or the first element of the list that v is: some servers wrap what there is one of.
func (v value) only() value {
	if !v.isList() {
		return v
	}
	inner := bytes.TrimLeft(v[1:len(v)-1], " \t\r\n")
	if len(inner) == 0 {
		return nil
	}
	return value(inner[:valueLen(inner)])
}

// length is how many elements the list has that v is; 0 where it is none.
func (v value) length() int {
	if !v.isList() {
		return 0
	}
	n := 0
	for rest := bytes.TrimLeft(v[1:len(v)-1], " \t\r\n,"); len(rest) > 0; rest = bytes.TrimLeft(rest, " \t\r\n,") {
		rest = rest[valueLen(rest):]
		n++
	}
	return n
}

// number is a count; Unknown where there is none, or one that cannot be.
func (v value) number() int {
	if len(v) == 0 || v[0] < '0' || v[0] > '9' {
		return Unknown
	}
	n := 0
	for _, c := range v {
		if c < '0' || c > '9' || n > 1<<40 {
			return roundNumber(v)
		}
		n = n*10 + int(c-'0')
	}
	return within(float64(n))
}

// roundNumber reads a count that is written as a fraction or with an exponent.
func roundNumber(v value) int {
	f, _ := strconv.ParseFloat(string(v), 64) // valid JSON fails by its size only, which within sees
	return within(f)
}

// within is f as a count, if it can be one.
func within(f float64) int {
	if f < 0 || f > 1<<40 || f != float64(int64(f)) {
		return Unknown
	}
	return int(f)
}

// failed tells an error object inside a 200 in the shapes that servers use: an "error" that says something, or the
// whole being one.
func failed(err, object value) bool {
	switch string(err) {
	case "", "null", "false", `""`:
		return string(object) == `"error"`
	}
	return true
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// stringLen is the length of the string that b begins with, quotes included.
func stringLen(b []byte) int {
	for i := 1; ; {
		i += bytes.IndexByte(b[i:], '"')
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		i++
		if slashes%2 == 0 {
			return i
		}
	}
}

// valueLen is the length of the value that b begins with.
func valueLen(b []byte) int {
	switch b[0] {
	case '"':
		return stringLen(b)
	case '{', '[':
		return containerLen(b)
	}
	for i, c := range b {
		if c == ',' || c == '}' || c == ']' || blank(c) {
			return i
		}
	}
	return len(b)
}

// containerLen is the length of the object or list that b begins with.
func containerLen(b []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch b[i] {
		case '"':
			i += stringLen(b[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}
