package habit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/client/input"
)

// params are the parameters of one habit as text. The methods that read them keep the first error.
type params struct {
	values map[string]string
	err    error
}

// params splits "0.3,recovery=20s" into values by key.
func (k *Kind) params(text string) (*params, error) {
	p := &params{values: make(map[string]string)}
	at := 0
	for item := range strings.SplitSeq(strings.ReplaceAll(text, "@", ",at="), ",") {
		key, value, named := strings.Cut(strings.TrimSpace(item), "=")
		key = strings.ToLower(strings.TrimSpace(key))
		switch {
		case item == "" && at == 0: // "freezes@10s" begins with its time
			continue
		case named:
		case at < k.places:
			key, value = k.keys[at], key
			at++
		default:
			return nil, fmt.Errorf("habit %s: %q is one value too many; want %s, such as %s", k.Name, item, k.Form, k.Example)
		}
		if !slices.Contains(k.keys, key) {
			hint := ""
			if near, ok := input.Nearest(key, k.keys); ok {
				hint = fmt.Sprintf("; did you mean %s?", near)
			}
			return nil, fmt.Errorf("habit %s has no parameter %q%s; want %s, such as %s", k.Name, key, hint, k.Form, k.Example)
		}
		if _, twice := p.values[key]; twice {
			return nil, fmt.Errorf("habit %s: %s was given twice; want %s, such as %s", k.Name, key, k.Form, k.Example)
		}
		p.values[key] = strings.TrimSpace(value)
	}
	return p, nil
}

// unless validates a habit whose parameters could be read.
func (p *params) unless(h Habit) error {
	if p.err != nil {
		return nil
	}
	return h.Validate()
}

func (p *params) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// number reads a number, or a share written as a percentage.
func (p *params) number(key string, otherwise float64) float64 {
	text, ok := p.values[key]
	if !ok {
		return otherwise
	}
	digits, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		p.fail("%s is no number: %q", key, text)
		return otherwise
	}
	if percent {
		return v / 100
	}
	return v
}

func (p *params) integer(key string, otherwise int) int {
	text, ok := p.values[key]
	if !ok {
		return otherwise
	}
	v, err := strconv.Atoi(text)
	if err != nil {
		p.fail("%s is no whole number: %q", key, text)
		return otherwise
	}
	return v
}

func (p *params) duration(key string, otherwise time.Duration) time.Duration {
	text, ok := p.values[key]
	if !ok {
		return otherwise
	}
	if text == "never" {
		return Never
	}
	v, err := time.ParseDuration(text)
	if err != nil {
		p.fail("%s is no time such as 500ms, 20s or 3m: %q", key, text)
		return otherwise
	}
	return v
}

// notFinite returns an error for NaN and infinite values, which the comparisons in Validate do not find.
func notFinite(values ...float64) error {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("a value is not a finite number")
		}
	}
	return nil
}

// text builds a habit's String.
type text struct{ strings.Builder }

// name starts with a habit's name and its first parameter.
func (t *text) name(name, first string) *text {
	t.WriteString(name + ":" + first)
	return t
}

// with adds a parameter unless its value is the one that Parse supplies.
func (t *text) with(key, value, standard string) *text {
	if value != standard {
		t.WriteString("," + key + "=" + value)
	}
	return t
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// span writes a duration without zero parts: 3m instead of 3m0s.
func span(d time.Duration) string {
	if d == Never {
		return "never"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}
