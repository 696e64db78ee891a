// Package lang has what all renderings share to put things into words: languages, phrases in all of them, the sentences
// of notes, and numbers as people read them. It has no phrases of single packages: those are in their words.go.
package lang

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Lang is the language of a rendering.
type Lang string

// The languages. The zero Lang is English.
const (
	English Lang = "en"
	Chinese Lang = "zh"
)

// All returns the languages.
func All() []Lang { return []Lang{English, Chinese} }

// Phrase is a text in each language. With arguments it is a format, and both languages use the same arguments.
type Phrase struct{ en, zh string }

// Say returns a Phrase.
func Say(en, zh string) Phrase { return Phrase{en, zh} }

// In returns the phrase in language l.
func (p Phrase) In(l Lang, args ...any) string {
	s := p.en
	if l == Chinese {
		s = p.zh
	}
	switch {
	case len(args) == 0:
		return s
	case l == Chinese:
		return inChinese(s, args)
	}
	return fmt.Sprintf(s, args...)
}

// seam marks both ends of an argument that begins or ends with a wide character.
const seam = "\ue000"

var (
	beforeArgument = regexp.MustCompile(`(` + wide + `) ` + seam + `(` + wide + `)`)
	afterArgument  = regexp.MustCompile(`(` + wide + `)` + seam + ` (` + wide + `)`)
)

// wide matches Chinese characters and the punctuation that is as wide as they are.
const wide = `[\p{Han}（），。：；、“”]`

var wideText = regexp.MustCompile(wide)

// A phrase has blanks around an argument, as is right for numbers and Latin words; between two Chinese characters there
// is none.
func inChinese(format string, args []any) string {
	marked := false
	for i, a := range args {
		if s, ok := a.(string); ok && hasWideEnd(s) && !strings.Contains(format, "%q") {
			if !marked {
				args, marked = slices.Clone(args), true
			}
			args[i] = seam + s + seam
		}
	}
	s := fmt.Sprintf(format, args...)
	if !marked {
		return s
	}
	return removeSeams(s)
}

func removeSeams(s string) string {
	s = afterArgument.ReplaceAllString(beforeArgument.ReplaceAllString(s, "$1$2"), "$1$2")
	return strings.ReplaceAll(s, seam, "")
}

func hasWideEnd(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	return wideText.MatchString(string(first)) || wideText.MatchString(string(last))
}
