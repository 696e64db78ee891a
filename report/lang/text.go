package lang

import (
	"slices"
	"strings"
)

// Text is a text in both languages.
type Text struct{ EN, ZH string }

// Same returns a text that is the same in both languages: a name or a number.
func Same(s string) Text { return Text{s, s} }

// Both returns what a function says in each language.
func Both(say func(Lang) string) Text { return Text{say(English), say(Chinese)} }

// Text returns the phrase in both languages, with arguments that are a Phrase or a Text in the same language.
func (p Phrase) Text(args ...any) Text {
	return Both(func(l Lang) string {
		in := slices.Clone(args)
		for i, a := range args {
			switch a := a.(type) {
			case Phrase:
				in[i] = a.In(l)
			case Text:
				in[i] = a.In(l)
			}
		}
		return p.In(l, in...)
	})
}

// Join returns names or numbers in one text, with the phrase between them.
func (p Phrase) Join(all []string) Text {
	return Both(func(l Lang) string { return strings.Join(all, p.In(l)) })
}

// In returns the text in one language.
func (t Text) In(l Lang) string {
	if l == Chinese {
		return t.ZH
	}
	return t.EN
}

// IsZero reports whether there is no text.
func (t Text) IsZero() bool { return t == Text{} }

// Plus returns two texts in one.
func (t Text) Plus(u Text) Text { return Text{t.EN + u.EN, t.ZH + u.ZH} }

// Joined returns texts in one, with a phrase between them.
func Joined(all []Text, separator Phrase) Text {
	return Both(func(l Lang) string { return strings.Join(In(all, l), separator.In(l)) })
}

// In returns texts in one language.
func In(all []Text, l Lang) []string {
	var texts []string
	for _, t := range all {
		texts = append(texts, t.In(l))
	}
	return texts
}

// Sentences returns a list of sentences in both languages: what a function says in each.
func Sentences(say func(Lang) []string) []Text {
	en, zh := say(English), say(Chinese)
	all := make([]Text, max(len(en), len(zh)))
	for i, s := range en {
		all[i].EN = s
	}
	for i, s := range zh {
		all[i].ZH = s
	}
	return all
}
