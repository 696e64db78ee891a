package stages

import (
	"math"
	"testing"

	"llmsweep/sweep/rundir"
)

// TestTokensOfOnePieceAreSpread: what a proxy held back came at the same pace from the server.
func TestTokensOfOnePieceAreSpread(t *testing.T) {
	r := &rundir.Record{FirstToken: rundir.Exactly(1), GapsUS: []int64{10_000, 0, 0, 30_000}, Counts: []int32{1, 1, 1, 1, 2}}
	q := Request{Tokens: instants(r)}
	q.spread()
	want := []float64{1, 1 + 0.01/3, 1 + 0.02/3, 1.01, 1.025, 1.04}
	for i, at := range q.Tokens {
		if math.Abs(at-want[i]) > 1e-9 {
			t.Errorf("token %d at %v, want %v", i, at, want[i])
		}
	}
}
