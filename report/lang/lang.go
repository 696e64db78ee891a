// Package lang has what all renderings share to put things into words: languages, phrases in all of them, the sentences of
// notes, and numbers as people read them.
package lang

import "fmt"

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
	if len(args) == 0 {
		return s
	}
	return fmt.Sprintf(s, args...)
}
