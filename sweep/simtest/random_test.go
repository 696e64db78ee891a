package simtest

import (
	"math/rand/v2"
	"testing"

	"llmsweep/client/sim"
)

// TestRandomServersCanRun draws servers with each habit: they start, and the same seed draws the same server.
func TestRandomServersCanRun(t *testing.T) {
	if testing.Short() {
		t.Skip("a long simulation in one goroutine")
	}
	for _, name := range []string{"collapses", "sheds", "rate-limited", "drifts", "scales", "pauses", "batches", "caches",
		"drops", ""} {
		draw := func(seed uint64) DrawnServer {
			rng := rand.New(rand.NewPCG(seed, 7))
			if name == "" {
				return randomServer(rng)
			}
			return RandomServerWith(rng, name)
		}
		for seed := range uint64(3) {
			s, again := draw(seed), draw(seed)
			e, err := sim.Start(s.Config)
			if err != nil {
				t.Errorf("%v: %v", s, err)
				continue
			}
			e.Close()
			if none := s.Config.Habits == (sim.Habits{}); none != (name == "") || s.String() != again.String() {
				t.Errorf("%q: %v and %v", name, s, again)
			}
		}
	}
}
