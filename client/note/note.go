// Package note has coded messages: what a reader of a run should know, as a code with arguments. Packages declare the
// kinds of their notes; package report puts them into words, in each language.
package note

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"
)

// Kind is one kind of message: its code, unique in the program, and the names of its arguments in order.
type Kind struct {
	Code string
	Args []string
}

// Note is one message, as run.json has it: {"code": "budget.no-time", "args": {"rate": 12.5}}.
//
// An argument is a number (times in seconds, shares from 0 to 1), a string, a list of strings, or a list of notes. An
// llmsweep without codes wrote a bare string; it is read as a note of kind [Text].
type Note struct {
	Code string         `json:"code"`
	Args map[string]any `json:"args,omitempty"`
}

// Text is a message in words, in one language, from an old run directory or another tool's file.
var Text = Kind{"text", []string{"text"}}

// New returns a note of this kind with the values of its arguments, in order. It panics where their number is wrong. A
// duration becomes seconds, any other number a float64; nil and an infinite or undefined number are left out.
func (k Kind) New(values ...any) Note {
	if len(values) != len(k.Args) {
		panic(fmt.Sprintf("note %s has %d arguments, not %d", k.Code, len(k.Args), len(values)))
	}
	n := Note{Code: k.Code}
	for i, name := range k.Args {
		if v := jsonValue(values[i]); v != nil {
			if n.Args == nil {
				n.Args = map[string]any{}
			}
			n.Args[name] = v
		}
	}
	return n
}

// jsonValue returns v as JSON would give it back: nil, a float64, a string, []string or []Note.
func jsonValue(v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case time.Duration:
		return v.Seconds()
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return v
	case string, []string, []Note:
		return v
	case error:
		return v.Error()
	case fmt.Stringer:
		return v.String()
	}
	if s := reflect.ValueOf(v); s.Kind() == reflect.String { // such as a verdict
		return s.String()
	}
	panic(fmt.Sprintf("a note cannot hold a %T", v))
}

// IsZero reports whether n is no note; encoding/json's omitzero uses it.
func (n Note) IsZero() bool { return n.Code == "" }

// Is reports whether n is of that kind.
func (n Note) Is(k Kind) bool { return n.Code == k.Code }

// Number returns an argument; ok is false where it is absent or not a number.
func (n Note) Number(name string) (v float64, ok bool) {
	v, ok = n.Args[name].(float64)
	return v, ok
}

// String returns an argument, empty where it is absent or not text.
func (n Note) String(name string) string {
	s, _ := n.Args[name].(string)
	return s
}

// UnmarshalJSON reads a note, or a bare string as a note of kind [Text]. Lists become []string or []Note.
func (n *Note) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err == nil {
		*n = Note{}
		if text != "" {
			*n = Text.New(text)
		}
		return nil
	}
	type plainNote Note
	if err := json.Unmarshal(b, (*plainNote)(n)); err != nil {
		return err
	}
	for name, v := range n.Args {
		list, ok := v.([]any)
		if !ok {
			continue
		}
		typed, err := typedList(list)
		if err != nil {
			return fmt.Errorf("argument %q of note %q: %w", name, n.Code, err)
		}
		n.Args[name] = typed
	}
	return nil
}

func typedList(list []any) (any, error) {
	b, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	var texts []string
	if err := json.Unmarshal(b, &texts); err == nil {
		return texts, nil
	}
	var notes []Note
	return notes, json.Unmarshal(b, &notes)
}

// Equal reports whether two notes say the same.
func (n Note) Equal(other Note) bool {
	a, errA := json.Marshal(n)
	b, errB := json.Marshal(other)
	return errA == nil && errB == nil && string(a) == string(b)
}

// Add appends n to notes, unless they say so already.
func Add(notes []Note, n Note) []Note {
	if slices.ContainsFunc(notes, n.Equal) {
		return notes
	}
	return append(notes, n)
}
