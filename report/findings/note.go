package findings

import (
	"strings"
	"sync"

	"llmsweep/client/note"
	"llmsweep/report/lang"
)

// Note returns what a note says, as a sentence.
func Note(n note.Note, l lang.Lang) string { return Words().Sentence(n, l) }

// Phrase returns what a note says, to follow a colon or to stand in parentheses: without a capital or a full stop.
func Phrase(n note.Note, l lang.Lang) string { return Words().Say(n, l) }

func joinNotes(notes ...note.Note) string {
	var texts []string
	for _, n := range notes {
		if _, known := Words()[n.Code]; known || n.Is(note.Text) {
			texts = append(texts, Phrase(n, lang.English))
		}
	}
	return strings.Join(texts, "; ")
}

// Words returns the phrases of all notes of packages below report, by code. The map is shared: do not change it.
var Words = sync.OnceValue(func() lang.Words {
	return lang.Join(sweepWords(), clusterWords(), probeWords(), limitsWords(), replicaWords(), workloadWords(),
		gradesWords(), importedWords())
})
