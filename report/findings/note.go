package findings

import (
	"fmt"
	"llmsweep/client/note"
	"llmsweep/report/lang"
	"maps"
	"slices"
	"strings"
)

// Note returns what a note says.
func Note(n note.Note, l lang.Lang) string {
	if n.Is(note.Text) {
		return n.String("text")
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(n.Args)) {
		parts = append(parts, fmt.Sprintf("%s %v", name, n.Args[name]))
	}
	return n.Code + " " + strings.Join(parts, ", ")
}

// noted1 joins notes into one English cell.
func JoinNotes(notes ...note.Note) string {
	var texts []string
	for _, n := range notes {
		if !n.IsZero() {
			texts = append(texts, Note(n, lang.English))
		}
	}
	return strings.Join(texts, "; ")
}
