// Package habit describes the bad habits that a simulated server can have: it slows down as a queue builds, refuses
// requests, drifts, changes its size, stalls, buffers its output, answers from a cache, drops connections, freezes, or answers otherwise than it should.
//
// A habit is a value. Parse reads one from text such as "sheds:8,status=503", its String method writes it back, and its
// Validate method checks values that were set in code. What a habit does to a server is in package sim, which also
// computes how many requests a server with habits sustains.
package habit

import (
	"errors"
	"fmt"
	"strings"

	"llmsweep/client/input"
)

// Habit is one of the types of this package, such as Sheds.
type Habit interface {
	Name() string    // as in Parse: "sheds"
	String() string  // what Parse reads as the same habit: "sheds:8"
	Validate() error // nil if every value is within its range
}

// List is the habits of one server, at most one of each name.
type List []Habit

// Find returns the habit of type H in a list, and whether there is one.
func Find[H Habit](l List) (H, bool) {
	for _, h := range l {
		if found, ok := h.(H); ok {
			return found, true
		}
	}
	var none H
	return none, false
}

// Validate returns the first habit's error, or an error if two habits have the same name.
func (l List) Validate() error {
	seen := make(map[string]bool)
	for _, h := range l {
		if err := h.Validate(); err != nil {
			return err
		}
		if seen[h.Name()] {
			return fmt.Errorf("habit %s was given twice; a server has each habit once", h.Name())
		}
		seen[h.Name()] = true
	}
	return nil
}

// String joins the habits with spaces.
func (l List) String() string {
	parts := make([]string, len(l))
	for i, h := range l {
		parts[i] = h.String()
	}
	return strings.Join(parts, " ")
}

// ParseList reads one habit from each text.
func ParseList(texts []string) (List, error) {
	var l List
	for _, text := range texts {
		h, err := Parse(text)
		if err != nil {
			return nil, err
		}
		l = append(l, h)
	}
	return l, l.Validate()
}

// Parse reads NAME or NAME:PARAMETERS. Parameters are separated by commas; each is a value, or KEY=VALUE. In "scales:2@3m"
// and "freezes@10s" what follows the @ is a time since the server's start. A name alone takes the default parameters. Errors
// name the nearest habit or parameter, and show an example.
func Parse(text string) (Habit, error) {
	text = strings.TrimSpace(text)
	name, rest := text, ""
	if i := strings.IndexAny(text, ":@"); i >= 0 {
		name, rest = text[:i], strings.TrimPrefix(text[i:], ":")
	}
	k, err := kindOf(name)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(rest) == "" {
		rest = k.standard
	}
	p, err := k.params(rest)
	if err != nil {
		return nil, err
	}
	h := k.build(p)
	if err := errors.Join(p.err, p.unless(h)); err != nil {
		return nil, fmt.Errorf("habit %q: %w; want %s, such as %s", text, err, k.Form, k.Example)
	}
	return h, nil
}

// Kind describes one kind of habit, for help texts.
type Kind struct {
	Name    string
	Form    string // "sheds:N[,status=429|503][,retry=TIME]"
	Example string // "sheds:8,status=503"
	About   string // what such a server does, a sentence without a full stop

	standard string   // the parameters that a name alone stands for
	keys     []string // every parameter
	places   int      // the number of keys that may be given by position
	build    func(*params) Habit
}

// Kinds returns every kind of habit, in the order of the documentation.
func Kinds() []Kind {
	return []Kind{
		collapsesKind(), shedsKind(), rateLimitedKind(), driftsKind(), scalesKind(), pausesKind(), batchesKind(), cachesKind(),
		dropsKind(), freezesKind(),
		tiesKind(), confusesKind(), roundsKind(), samplesKind(), errsKind(),
	}
}

// Names returns the names of all kinds.
func Names() []string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}

func kindOf(name string) (*Kind, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, k := range Kinds() {
		if k.Name == name {
			return &k, nil
		}
	}
	if near, ok := input.Nearest(name, Names()); ok {
		return nil, fmt.Errorf("no habit is called %q; did you mean %s?", name, near)
	}
	return nil, fmt.Errorf("no habit is called %q; there are %s", name, strings.Join(Names(), ", "))
}
