package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"llmsweep/client/note"
)

// Note returns what a note says.
func Note(n note.Note, l Lang) string {
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
func noted1(notes ...note.Note) string {
	var texts []string
	for _, n := range notes {
		if !n.IsZero() {
			texts = append(texts, Note(n, English))
		}
	}
	return strings.Join(texts, "; ")
}
