package sweep

import (
	"testing"

	"llmsweep/sweep/rundir"
)

func TestGrid(t *testing.T) {
	t.Parallel()
	if got := grid(1, 10, 9); got[0] != 2 || got[8] != 10 || len(got) != 9 {
		t.Errorf("grid %v", got)
	}
	if got := grid(1, 1.1, 4); got[0] > 0.3 || got[3] != 1.1 {
		t.Errorf("the grid of a server that takes one at a time is %v", got)
	}
}

// An answer without a rate gives no rate beyond it. A stage at NaN requests per second would send without end.
func TestNoRateIsBeyondAnUnknownAnswer(t *testing.T) {
	t.Parallel()
	x := &sweeper{Experiment: fresh(t, experimentWith(nil, nil))}
	for n := range maxNarrowing {
		unknown := &rundir.Saturation{LowestSaturated: rundir.Exactly(9)}
		if measured, err := x.overload(t.Context(), unknown, n); measured || err != nil {
			t.Errorf("%d: measured %v, error %v", n, measured, err)
		}
	}
}
