package api

import (
	"strconv"
	"unicode/utf8"

	"github.com/go-faster/jx"
	"github.com/tidwall/gjson"
)

// encoder writes one request body. The user's object (Params.Extra) is merged into it: its keys replace ours, and a
// null in it leaves our key out.
type encoder struct {
	json   jx.Encoder
	extra  gjson.Result // the user's object
	merged string       // the key of it that was merged with an object of ours
}

// newEncoder begins a body.
func newEncoder(p *Params) *encoder {
	e := &encoder{extra: gjson.ParseBytes(p.Extra)}
	e.json.ObjStart()
	return e
}

// finish adds the user's fields and returns the body.
func (e *encoder) finish() ([]byte, error) {
	e.extras()
	e.json.ObjEnd()
	return e.json.Bytes(), nil
}

// field writes a key, unless the user's object has it.
func (e *encoder) field(name string) bool {
	if e.extra.Get(name).Exists() {
		return false
	}
	e.json.FieldStart(name)
	return true
}

// text writes a field that is a string.
func (e *encoder) text(name, s string) {
	if e.field(name) {
		e.json.Str(utf8Only(s))
	}
}

// utf8Only returns s with U+FFFD for each byte that is not UTF-8. jx would write it as it is.
func utf8Only(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// literal writes a field whose value is given as JSON.
func (e *encoder) literal(name, value string) {
	if e.field(name) {
		e.json.RawStr(value)
	}
}

// flag writes a field that is true or false.
func (e *encoder) flag(name string, v bool) { e.literal(name, strconv.FormatBool(v)) }

// count writes a field that is a count, if n is one.
func (e *encoder) count(name string, n int) {
	if n > 0 {
		e.literal(name, strconv.Itoa(n))
	}
}

func (e *encoder) temperature(t *float64) {
	if t != nil && e.field("temperature") {
		e.json.Float64(*t)
	}
}

// messages writes a conversation as a field.
func (e *encoder) messages(name string, all []Message) {
	if !e.field(name) {
		return
	}
	e.json.ArrStart()
	for _, m := range all {
		e.json.ObjStart()
		e.json.FieldStart("role")
		e.json.Str(utf8Only(m.Role))
		e.json.FieldStart("content")
		e.json.Str(utf8Only(m.Content))
		e.json.ObjEnd()
	}
	e.json.ArrEnd()
}

// length asks for n output tokens, and for no fewer where the server takes such fields.
func (e *encoder) length(n int, f Fields) {
	name := "max_tokens"
	if f.MaxCompletionTokens {
		name = "max_completion_tokens"
	}
	e.count(name, n)
	if n > 0 && f.IgnoreEOS {
		e.flag("ignore_eos", true)
		if f.MinTokens {
			e.count("min_tokens", n)
		}
	}
}

// object writes a field that is an object. Where the user's object has one of that name too, the two are merged and
// the user's keys win. Replacing ours whole would lose the length, and the server's default would take its place.
func (e *encoder) object(name string, write func(*encoder)) {
	theirs := e.extra.Get(name)
	if theirs.Exists() && !theirs.IsObject() {
		return
	}
	all := e.extra
	e.json.FieldStart(name)
	e.json.ObjStart()
	e.extra = theirs
	write(e)
	e.extras()
	e.json.ObjEnd()
	e.extra, e.merged = all, name
}

// extras writes the user's fields as they stand, except nulls.
func (e *encoder) extras() {
	e.extra.ForEach(func(k, v gjson.Result) bool {
		if v.Type != gjson.Null && (e.merged == "" || k.Str != e.merged) {
			e.json.FieldStart(utf8Only(k.Str))
			e.json.RawStr(v.Raw)
		}
		return true
	})
}
