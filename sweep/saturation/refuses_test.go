package saturation

import (
	"slices"
	"testing"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// TestFewRefusalsAreNamed: refusals beyond chance are named, also where the backlog leaves the stage undecided; one of forty is none.
func TestFewRefusalsAreNamed(t *testing.T) {
	for _, c := range []struct {
		failed, of int
		named      bool
	}{{26, 400, true}, {1, 40, false}, {0, 400, false}} {
		st := row(12, 11, rundir.Undecided)
		st.Requests = rundir.Requests{OK: c.of - c.failed, Error: c.failed}
		if c.failed > 0 {
			st.Refused = rundir.Exactly(float64(c.failed) / float64(c.of))
		}
		found := habits(&rundir.Run{Stages: []rundir.Stage{ceilingRow(11), st}}, nil)
		if named := slices.ContainsFunc(found, func(n note.Note) bool { return n.Is(noteSheds) }); named != c.named {
			t.Errorf("%d of %d refused: %v", c.failed, c.of, found)
		}
	}
}
