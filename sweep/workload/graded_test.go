package workload

import (
	"testing"

	"llmsweep/sweep/simtest"
)

// TestGradedRows reads what is right.
func TestGradedRows(t *testing.T) {
	const lines = `{"prompt": "one", "answer": 42}
{"prompt": "two", "answer": "B", "grade": "choice"}
{"prompt": "three"}
{"prompt": "four", "answer": "x", "grade": "number"}
{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}], "answer": "x"}
{"prompt": "five", "answer": null}
`
	d, err := read(t.Context(), text(t, lines), datasetOptions{Count: byCharacter, Graded: true})
	if err != nil {
		t.Fatal(err)
	}
	if d.Rows() != 4 || d.graded() != 2 || d.Describe().Graded != 2 || len(d.skipped) != 2 {
		t.Errorf("%d rows, %d graded, left out %v", d.Rows(), d.graded(), d.skipped)
	}
	for i, s := range simtest.TakeTexts(t, d.Stage("a"), 12) {
		if (s.Tag != nil) != (s.Turns[0].Greedy) {
			t.Errorf("session %d: %+v", i, s)
		}
	}
	plain, err := read(t.Context(), text(t, lines), datasetOptions{Count: byCharacter})
	if err != nil || plain.graded() != 0 || plain.Rows() != 6 {
		t.Errorf("%d rows, %d graded, %v", plain.Rows(), plain.graded(), err)
	}
	csv, err := read(t.Context(), text(t, "prompt,answer,grade\nx,1,\ny,a,exact\nz,,\n"),
		datasetOptions{Count: byCharacter, Graded: true})
	if err != nil || csv.graded() != 2 || csv.Rows() != 3 {
		t.Errorf("CSV: %d rows, %d graded, %v", csv.Rows(), csv.graded(), err)
	}
}
