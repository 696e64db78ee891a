package twin

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/rundir"
)

// hide lets a share of the tokens come with the next one, as servers do with a token that is not yet a whole character.
func hide(all []Stage, share float64) {
	rng := rand.New(rand.NewPCG(7, 0))
	for _, s := range all {
		for i, r := range s.Records {
			hidden := *r
			hidden.GapsUS = nil
			waits := int64(0)
			for k, g := range r.GapsUS {
				if waits += g; k < len(r.GapsUS)-1 && rng.Float64() < share {
					continue
				}
				hidden.GapsUS = append(hidden.GapsUS, waits)
				waits = 0
			}
			s.Records[i] = &hidden
		}
	}
}

// TestHiddenTokensAreNoPauses: a step in which nothing came for a request computed its token nevertheless.
func TestHiddenTokensAreNoPauses(t *testing.T) {
	server := known()
	all := swept(t, server, 256, 64, 3*time.Minute)
	hide(all, 0.04)
	for _, s := range all {
		if !slices.ContainsFunc(s.Records, func(r *rundir.Record) bool { return r.Status == "ok" && int(r.OutputTokens.Value()) > len(r.GapsUS)+1 }) {
			t.Fatalf("%s: no token is hidden", s.Name)
		}
	}
	tw, err := Fit(all)
	if err != nil {
		t.Fatal(err)
	}
	if c := tw.Config(); c.MaxNumSeqs != 24 || math.Abs(float64(tw.KVTokens)/12800-1) > 0.03 {
		t.Errorf("%d slots and a cache of %d tokens, want 24 and 12800", c.MaxNumSeqs, tw.KVTokens)
	}
	if tw.Check == nil || !tw.Check.Passed {
		t.Errorf("the check says %+v", tw.Check)
	}
	w := sim.Workload{PromptTokens: 900, OutputTokens: 24}
	if truth, got := sim.TruthOf(server, w, 0, 0).Capacity, tw.Saturation(w, 0).Value; math.Abs(got/truth-1) > 0.04 {
		t.Errorf("saturation %.4g, want %.4g", got, truth)
	}
}
