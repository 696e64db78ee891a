package measure

import (
	"math/rand/v2"
	"testing"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// hitsOf returns the hits of requests of 512 tokens, of which each has the cached tokens and the ideal ones that of
// tells.
func hitsOf(n int, of func() (cached, ideal int)) *rundir.Hits {
	var h hits
	for range n {
		cached, ideal := of()
		h.add(&rundir.Record{Status: string(client.StatusOK), PromptTokens: rundir.Exactly(512),
			CachedTokens: rundir.Exactly(float64(cached)), IdealTokens: ideal})
	}
	return h.result(&rundir.Stage{})
}

// Rows whose prompts the server had before the run sent them are contaminated: all of 100, also where only some prompts
// were there. Of 1,000 clean rows none is, although the chat template is cached, and the cache holds what the run sent
// before, in whole blocks.
func TestContaminatedRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 100 {
		share := 0.05 + 0.95*rng.Float64()
		h := hitsOf(200, func() (int, int) {
			if rng.Float64() < share {
				return 496, 0 // all but the last block
			}
			return 16, 0
		})
		if h == nil || !h.Contaminated.Known() {
			t.Errorf("row %d with %.0f %% of its prompts in the cache is not named: %+v", i, 100*share, h)
		}
	}
	for i := range 1000 {
		template, ideal := 16*rng.IntN(16), rng.IntN(500)
		h := hitsOf(200, func() (int, int) {
			if rng.IntN(2) == 0 {
				return template, 0
			}
			return max(template, (ideal+template)/16*16), ideal
		})
		if h != nil && h.Contaminated.Known() {
			t.Errorf("clean row %d is named: %+v", i, h)
		}
	}
	if h := hitsOf(200, func() (int, int) { return 0, 0 }); h != nil {
		t.Errorf("hits where there are none: %+v", h)
	}
}
