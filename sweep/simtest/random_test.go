package simtest

import (
	"math/rand/v2"
	"testing"

	"llmsweep/client/sim"
	"llmsweep/client/sim/habit"
)

// TestRandomServersCanRun draws servers of each kind: they start, their habits can be written and read, and they take some
// load.
func TestRandomServersCanRun(t *testing.T) {
	if testing.Short() {
		t.Skip("a long simulation in one goroutine")
	}
	for _, name := range append(habit.Names(), "") {
		for seed := range uint64(5) {
			rng := rand.New(rand.NewPCG(seed, 7))
			s := randomServer(rng)
			if name != "" {
				s = RandomServerWith(rng, name)
				h := s.Config.Habits[0]
				if again, err := habit.Parse(h.String()); err != nil || again != h || h.Name() != name {
					t.Errorf("%s reads as %v (%v)", h, again, err)
				}
			}
			e, err := sim.Start(s.Config)
			if err != nil {
				t.Errorf("%v: %v", s, err)
				continue
			}
			e.Close()
			if name == "collapses" || name == "sheds" && seed > 0 {
				continue // their truths take seconds: the tests of package sim compare them with runs
			}
			truth := s.Truth(0)
			if truth.Sustained <= 0 || truth.Sustained > truth.Takes || truth.Overload > truth.Sustained*1.0001 || truth.Refused != (name == "sheds" || name == "rate-limited") {
				t.Errorf("%v: %+v", s, truth)
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
