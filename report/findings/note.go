package findings

import (
	"strings"

	"llmsweep/client/note"
	"llmsweep/report/lang"
)

// Note returns what a note says, as a sentence.
func Note(n note.Note, l lang.Lang) string { return Words().Sentence(n, l) }

// Phrase returns what a note says, to follow a colon or to stand in parentheses: without a capital or a full stop.
func Phrase(n note.Note, l lang.Lang) string { return Words().Say(n, l) }

// joinNotes joins notes into one English cell.
func joinNotes(notes ...note.Note) string {
	var texts []string
	for _, n := range notes {
		if _, known := Words()[n.Code]; known || n.Is(note.Text) {
			texts = append(texts, Phrase(n, lang.English))
		}
	}
	return strings.Join(texts, "; ")
}
