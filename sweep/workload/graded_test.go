package workload

import (
	"testing"

	"llmsweep/sweep/load"
	"llmsweep/sweep/simtest"
)

// TestGradedRows reads what is right, and takes the same rows in all stages.
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
	if d.Rows() != 4 || d.Graded() != 2 || d.Describe().Graded != 2 || len(d.Skipped()) != 2 {
		t.Errorf("%d rows, %d graded, left out %v", d.Rows(), d.Graded(), d.Skipped())
	}
	take := func(stage string) []load.Session { return simtest.TakeTexts(t, d.Stage(stage), 12) }
	a, b := take("a"), take("b")
	for i := range a {
		graded := a[i].Tag != nil
		if a[i].Turns[0].User != b[i].Turns[0].User || graded != (a[i].Turns[0].Greedy != nil) {
			t.Errorf("session %d: %+v and %+v", i, a[i], b[i])
		}
	}
	plain, err := read(t.Context(), text(t, lines), datasetOptions{Count: byCharacter})
	if err != nil || plain.Graded() != 0 || plain.Rows() != 6 {
		t.Errorf("%d rows, %d graded, %v", plain.Rows(), plain.Graded(), err)
	}
	csv, err := read(t.Context(), text(t, "prompt,answer,grade\nx,1,\ny,a+,regexp\nz,,\n"), datasetOptions{Count: byCharacter, Graded: true})
	if err != nil || csv.Graded() != 2 || csv.Rows() != 3 {
		t.Errorf("CSV: %d rows, %d graded, %v", csv.Rows(), csv.Graded(), err)
	}
}
