package twin

import (
	"math"
	"testing"

	"llmsweep/sweep/rundir"
)

// TestTokensOfOnePieceAreSpread: what a proxy held back came at the same pace from the server.
func TestTokensOfOnePieceAreSpread(t *testing.T) {
	r := &rundir.Record{FirstToken: rundir.Exactly(1), GapsUS: []int64{10_000, 0, 0, 30_000}, Counts: []int32{1, 1, 1, 1, 2}}
	q := StageRequest{Tokens: instants(r, 0)}
	q.spread()
	want := []float64{1, 1 + 0.01/3, 1 + 0.02/3, 1.01, 1.025, 1.04}
	for i, at := range q.Tokens {
		if math.Abs(at-want[i]) > 1e-9 {
			t.Errorf("token %d at %v, want %v", i, at, want[i])
		}
	}
}

// TestHiddenTokens: what the others got in a long gap shows the steps in which nothing came.
func TestHiddenTokens(t *testing.T) {
	of := func(first float64, output float64, gaps ...int64) *rundir.Record {
		r := &rundir.Record{Status: "ok", Sent: rundir.Exactly(first - 1), FirstToken: rundir.Exactly(first), GapsUS: gaps,
			PromptTokens: rundir.Exactly(8), OutputTokens: rundir.Exactly(output)}
		r.End = rundir.Exactly(first)
		for _, g := range gaps {
			r.End = rundir.Exactly(r.End.Value() + float64(g)*1e-6)
		}
		return r
	}
	whole := of(0.999, 6, 10_000, 10_000, 10_000, 10_000, 10_000)
	skips := of(1, 5, 10_000, 20_000, 10_000)
	stalls := of(1.0001, 4, 10_000, 20_000, 10_000) // the server counted no more than came
	s := Stage{Records: []*rundir.Record{whole, skips, stalls}}
	all := s.Requests()
	if got := all[1].Tokens; len(got) != 5 || math.Abs(got[2]-1.019) > 1e-9 || all[1].Output != 5 {
		t.Errorf("a hidden token: %v", got)
	}
	if got := all[2].Tokens; len(got) != 4 {
		t.Errorf("a stall: %v", got)
	}
	alone := Stage{Records: []*rundir.Record{of(1, 6, 10_000, 10_000, 20_000, 10_000)}}
	if got := alone.Requests()[0].Tokens; len(got) != 6 || math.Abs(got[3]-1.03) > 1e-9 {
		t.Errorf("a hidden token of the only request: %v", got)
	}
}
