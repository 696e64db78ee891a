package simtest

import (
	"math/rand/v2"
	"testing"

	"llmsweep/client/sim"
)

// TestRandomServersCanRun draws servers with each habit: they start.
func TestRandomServersCanRun(t *testing.T) {
	if testing.Short() {
		t.Skip("a long simulation in one goroutine")
	}
	for _, name := range []string{"collapses", "sheds", "rate-limited", "drifts", "scales", "pauses", "batches", "caches",
		"drops", ""} {
		for seed := range uint64(5) {
			rng := rand.New(rand.NewPCG(seed, 7))
			s := randomServer(rng)
			if name != "" {
				s = RandomServerWith(rng, name)
			}
			e, err := sim.Start(s.Config)
			if err != nil {
				t.Errorf("%v: %v", s, err)
				continue
			}
			e.Close()
			if none := s.Config.Habits == (sim.Habits{}); none != (name == "") {
				t.Errorf("%q: %v", name, s)
			}
		}
	}
}

// TestTheSameSeedDrawsTheSameServer is what makes a failure of a statistical test repeatable.
func TestTheSameSeedDrawsTheSameServer(t *testing.T) {
	draw := func() string { return RandomServerWith(rand.New(rand.NewPCG(3, 7)), "pauses").String() }
	if a, b := draw(), draw(); a != b {
		t.Errorf("%s and %s", a, b)
	}
}
