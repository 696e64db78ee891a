// Puts errors into Chinese. An error is an English text made from a format of this program, of the command-line parser or of
// the operating system; the catalogue has the Chinese of each format, by the English one. Texts are matched, not Go errors: run.json
// keeps errors as text, and old run directories are read too.

package lang

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// verb matches one placeholder of a format.
var verb = regexp.MustCompile(`%(?:\[(\d)\])?[-+ 0-9.]*([a-zA-Z%])`)

// entry is one format of the catalogue.
type entry struct {
	pattern *regexp.Regexp
	chinese string
	letters int // of the English format, without placeholders
	order   []int
}

// entries returns the catalogue, the format with the most letters first: the most special one that matches a text is taken.
var entries = sync.OnceValue(func() []entry {
	var all []entry
	for _, c := range catalogue() {
		all = append(all, newEntry(c[0], c[1]))
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(b.letters, a.letters) })
	return all
})

func newEntry(english, chinese string) entry {
	var p strings.Builder
	e := entry{chinese: chinese}
	last, n := 0, 0
	for _, m := range verb.FindAllStringSubmatchIndex(english, -1) {
		literal := english[last:m[0]]
		p.WriteString(regexp.QuoteMeta(literal))
		e.letters += utf8.RuneCountInString(literal)
		last = m[1]
		if english[m[4]:m[5]] == "%" {
			p.WriteString("%")
			e.letters++
			continue
		}
		n++
		at := n
		if m[2] >= 0 {
			at = int(english[m[2]] - '0')
		}
		e.order = append(e.order, at)
		p.WriteString(map[string]string{"d": `(-?\d+)`, "g": `(\S+)`, "f": `(\S+)`, "q": `("(?:[^"\\]|\\.)*")`}[english[m[4]:m[5]]])
		if !strings.ContainsAny(english[m[4]:m[5]], "dgfq") {
			p.WriteString(`(.*?)`)
		}
	}
	p.WriteString(regexp.QuoteMeta(english[last:]))
	e.letters += utf8.RuneCountInString(english[last:])
	e.pattern = regexp.MustCompile(`^(?s:` + p.String() + `)$`)
	return e
}

// deepest bounds how many errors stand inside each other.
const deepest = 8

// ChineseError returns the Chinese of an error's text. What the catalogue does not have stays as it is: names, numbers, and what a
// server answered.
func ChineseError(english string) string { return chinese(english, deepest) }

func chinese(english string, depth int) string {
	if depth == 0 {
		return english
	}
	for _, e := range entries() {
		m := e.pattern.FindStringSubmatch(english)
		if m == nil {
			continue
		}
		values := map[int]string{}
		for i, at := range e.order {
			values[at] = chinese(m[i+1], depth-1)
		}
		return fill(e.chinese, values)
	}
	// A prefix with a colon, such as a file's name or a flag: the rest may be known.
	for i := 0; i < len(english); {
		next := strings.Index(english[i:], ": ")
		if next < 0 {
			break
		}
		i += next + 2
		if rest := chinese(english[i:], depth-1); rest != english[i:] {
			return english[:i-2] + "：" + rest
		}
	}
	// Several reasons in a row.
	if first, rest, ok := strings.Cut(english, "; "); ok {
		a, b := chinese(first, depth-1), chinese(rest, depth-1)
		if a != first || b != rest {
			return a + "；" + b
		}
	}
	return english
}

// fill puts values into a Chinese format, whose placeholders have the numbers of the English ones or their order.
func fill(format string, values map[int]string) string {
	n := 0
	return verb.ReplaceAllStringFunc(format, func(v string) string {
		m := verb.FindStringSubmatch(v)
		if m[2] == "%" {
			return "%"
		}
		n++
		at := n
		if m[1] != "" {
			at = int(m[1][0] - '0')
		}
		return values[at]
	})
}
