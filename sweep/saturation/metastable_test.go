package saturation

import (
	"testing"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// What a sweep that was too short says of a server that was slow after an overload depends on whether it waited at all.
func TestAShortWaitIsNone(t *testing.T) {
	for waited, want := range map[float64]note.Kind{0: noteUnwatched, 0.3: noteUnwatched, 5: noteStayedSlow} {
		run := &rundir.Run{Recoveries: []rundir.Recovery{{After: "throughput", Slower: rundir.Exactly(1.4), Waited: rundir.Exactly(waited)}}}
		if n := metastable(run); !n.Is(want) {
			t.Errorf("after %v s: %+v", waited, n)
		}
	}
}
