package api

import (
	"strconv"

	"github.com/go-faster/jx"
	"github.com/tidwall/gjson"
)

// encoder writes one request body. The user's object ([Params].Extra) is merged into it: its keys replace ours, and a
// null in it leaves our key out.
type encoder struct {
	json      jx.Encoder
	extra     gjson.Result // the user's object
	mergedKey string       // its key that was merged with an object of ours
}

func newEncoder(p *Params) *encoder {
	e := &encoder{extra: gjson.ParseBytes(p.Extra)}
	e.json.ObjStart()
	return e
}

// Finish returns the body, with the rest of the user's fields.
func (e *encoder) Finish() ([]byte, error) {
	e.writeExtra()
	e.json.ObjEnd()
	return e.json.Bytes(), nil
}

// Field writes a key and returns true, unless the user's object has the key.
func (e *encoder) Field(name string) bool {
	if e.extra.Get(name).Exists() {
		return false
	}
	e.json.FieldStart(name)
	return true
}

func (e *encoder) Text(name, s string) {
	if e.Field(name) {
		e.json.Str(utf8Only(s))
	}
}

func (e *encoder) Literal(name, value string) {
	if e.Field(name) {
		e.json.RawStr(value)
	}
}

func (e *encoder) Flag(name string, v bool) { e.Literal(name, strconv.FormatBool(v)) }

// Count writes a field if n is above 0.
func (e *encoder) Count(name string, n int) {
	if n > 0 {
		e.Literal(name, strconv.Itoa(n))
	}
}

func (e *encoder) Temperature(t *float64) {
	if t != nil && e.Field("temperature") {
		e.json.Float64(*t)
	}
}

func (e *encoder) Messages(name string, all []Message) {
	if !e.Field(name) {
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

// Length asks for n output tokens, and for no fewer where the server takes such fields.
func (e *encoder) Length(n int, f Fields) {
	name := "max_tokens"
	if f.MaxCompletionTokens {
		name = "max_completion_tokens"
	}
	e.Count(name, n)
	if n > 0 && f.IgnoreEOS {
		e.Flag("ignore_eos", true)
		if f.MinTokens {
			e.Count("min_tokens", n)
		}
	}
}

// Object writes a field that is an object. Where the user's object has one of that name too, the two are merged and
// the user's keys win. Replacing ours whole would lose the length, and the server's default would take its place.
func (e *encoder) Object(name string, write func(*encoder)) {
	theirs := e.extra.Get(name)
	if theirs.Exists() && !theirs.IsObject() {
		return
	}
	all := e.extra
	e.json.FieldStart(name)
	e.json.ObjStart()
	e.extra = theirs
	write(e)
	e.writeExtra()
	e.json.ObjEnd()
	e.extra, e.mergedKey = all, name
}

// writeExtra writes the user's fields as they stand, except nulls.
func (e *encoder) writeExtra() {
	e.extra.ForEach(func(k, v gjson.Result) bool {
		if name := Key(k); v.Type != gjson.Null && (e.mergedKey == "" || name != e.mergedKey) {
			e.json.FieldStart(name)
			e.json.RawStr(v.Raw)
		}
		return true
	})
}
