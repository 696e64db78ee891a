package lang

import (
	"maps"
	"math"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// Words are the sentences of notes, by code. A sentence is a Phrase with placeholders: {rate:rate} is the argument
// "rate", printed as a rate. The formats:
//
//	{x}                  text as it is; a number without an exponent; a list joined by commas
//	{x:rate}             per second, as in tables
//	{x:short}            three digits
//	{x:tenths}           one decimal
//	{x:whole}            no decimals
//	{x:percent}          a share from 0 to 1, as "12 %"
//	{x:time}             seconds, as "95.6 ms" or "1.20 s"
//	{x:span}             seconds of a plan, as "45 s", "3 min" or "1.5 h"
//	{x:flag}             seconds as the value of a flag, as "45s", "3m" or "1h30m"
//	{x:count row rows}   a number and its noun, which English inflects
//	{x:times}            a whole number; absent where it is 1 or less
//	{x:note}             nested notes
//	{x:verdict}          a verdict of a stage
//	{x:metric}           the name of a metric, by its key in run.json
//
// Text in brackets is left out where an argument in it is absent: "[ of {total}]". With a bar, "[this {x}|that]", what
// follows the bar takes its place. Sentences begin with a small letter and end without a full stop, since they may
// follow a colon.
type Words map[string]Phrase

// Join returns the words of several packages.
func Join(all ...Words) Words {
	joined := Words{}
	for _, w := range all {
		maps.Copy(joined, w)
	}
	return joined
}

// Say returns what a note says, without a full stop; for a code of another version of llmsweep, that there is a note.
func (w Words) Say(n note.Note, l Lang) string {
	if n.Is(note.Text) {
		return n.String("text")
	}
	p, ok := w[n.Code]
	if !ok {
		return sayUnknown.In(l)
	}
	f := filler{words: w, args: n.Args, l: l}
	return f.fill(p.In(l))
}

// Sentence returns what a note says, as a sentence of its own; empty for a code of another version of llmsweep.
func (w Words) Sentence(n note.Note, l Lang) string {
	if n.Is(note.Text) {
		return n.String("text")
	}
	p, ok := w[n.Code]
	if !ok {
		return ""
	}
	s := w.Say(n, l)
	if !strings.HasPrefix(p.In(l), "{") { // names of stages and files stay as they are
		r, size := utf8.DecodeRuneInString(s)
		s = string(unicode.ToUpper(r)) + s[size:]
	}
	if last, _ := utf8.DecodeLastRuneInString(s); strings.ContainsRune(".。?？", last) {
		return s
	}
	return s + Stop.In(l)
}

var (
	placeholder = regexp.MustCompile(`\{([a-z][a-z0-9_]*)(?::([^{}]*))?\}`)
	optional    = regexp.MustCompile(`\[([^\[\]|]*)(?:\|([^\[\]]*))?\]`)
)

type filler struct {
	words Words
	args  map[string]any
	l     Lang
}

func (f *filler) fill(text string) string {
	text = optional.ReplaceAllStringFunc(text, func(part string) string {
		m := optional.FindStringSubmatch(part)
		for _, p := range placeholder.FindAllStringSubmatch(m[1], -1) {
			if f.value(p[1], p[2]) == "" {
				return m[2]
			}
		}
		return m[1]
	})
	text = placeholder.ReplaceAllStringFunc(text, func(part string) string {
		m := placeholder.FindStringSubmatch(part)
		v := f.value(m[1], m[2])
		switch {
		case v == "":
			return "?"
		case f.l == Chinese && hasWideEnd(v):
			return seam + v + seam
		}
		return v
	})
	if f.l == Chinese {
		return removeSeams(text)
	}
	return text
}

// value is empty for an argument that is absent.
func (f *filler) value(name, format string) string {
	switch v := f.args[name].(type) {
	case float64:
		return f.number(v, format)
	case string:
		switch format {
		case "verdict":
			return Verdict(rundir.Verdict(v), f.l)
		case "metric":
			return Metric(v, f.l)
		}
		return StageName(v)
	case []string:
		return StageName(strings.Join(v, ListComma.In(f.l)))
	case []note.Note:
		var parts []string
		for _, n := range v {
			parts = append(parts, strings.TrimRight(f.words.Say(n, f.l), ".。"))
		}
		return strings.Join(parts, Comma.In(f.l))
	}
	return ""
}

func (f *filler) number(v float64, format string) string {
	n := rundir.Exactly(v)
	format, nouns, _ := strings.Cut(format, " ")
	switch format {
	case "rate":
		return Number(n, Rate)
	case "short":
		return Number(n, Short)
	case "tenths":
		return Number(n, Fixed(1))
	case "whole":
		return Number(n, Fixed(0))
	case "percent":
		return Percent(v)
	case "time":
		return Time(n)
	case "span":
		return Span(v, f.l)
	case "flag":
		return FlagValue(v)
	case "times":
		if v <= 1 {
			return ""
		}
		return Number(n, Fixed(0))
	case "count":
		one, many, _ := strings.Cut(nouns, " ")
		if v == 1 {
			many = one
		}
		return strings.TrimSpace(Shortest(v) + " " + many)
	}
	return Shortest(v)
}

// Percent prints a share from 0 to 1 to two digits, or to the whole per cent.
func Percent(share float64) string {
	digits := Fixed(0)
	if math.Abs(share) < 0.0995 {
		digits = Fixed(1)
	}
	return digits(100*share, false) + " %"
}

// Limits between the units of [Span].
const (
	minutesFrom = 90       // seconds
	hoursFrom   = 100 * 60 // seconds
	minute      = 60       // seconds
	hour        = 60 * 60  // seconds
)

// Span prints seconds as a reader plans with them: in whole seconds, rounded up, or in minutes or hours.
func Span(seconds float64, l Lang) string {
	switch {
	case seconds < minutesFrom:
		return spanSeconds.In(l, Fixed(0)(math.Ceil(seconds), false))
	case seconds < hoursFrom:
		return spanMinutes.In(l, fewDigits(seconds/minute))
	}
	return spanHours.In(l, fewDigits(seconds/hour))
}

// fewDigits prints tenths below 10, where there are some, and whole numbers above.
func fewDigits(v float64) string {
	if v < 9.95 {
		return Shortest(math.Round(10*v) / 10)
	}
	return Fixed(0)(v, false)
}

// FlagValue prints seconds as flags take them, rounded up to whole seconds: "45s", "3m", "1h30m".
func FlagValue(seconds float64) string {
	text := (time.Duration(math.Ceil(seconds)) * time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-len("0s")]
		}
	}
	return text
}
