package findings_test

import (
	"testing"

	"llmsweep/client/note"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
)

// BenchmarkSentence puts a note into words, as a report does for each note of a run.
func BenchmarkSentence(b *testing.B) {
	n := note.Note{Code: "saturation.below-lone", Args: map[string]any{"completed": 2.0, "rate": 1.5}}
	b.ReportAllocs()
	for b.Loop() {
		findings.Words().Sentence(n, lang.Chinese)
	}
}
