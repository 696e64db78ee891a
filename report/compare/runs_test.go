package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// unsteady returns runs of one server whose speed differs from run to run by a spread, and which have intervals of
// their own of 1 %.
func unsteady(rng *rand.Rand, n int, spread, factor float64) []setup.Setup {
	var all []setup.Input
	for i := range n {
		v := factor * math.Exp(spread*rng.NormFloat64())
		run := &rundir.Run{
			Schema: rundir.Schema, State: rundir.Complete, Client: rundir.Client{Valid: true}, Labels: rundir.Labels{Model: "m",
				GPU: "G", GPUs: 1},
			Workload: rundir.Workload{PromptTokens: rundir.Lengths{Mean: 512}, OutputTokens: rundir.Lengths{Mean: 128}},
			Saturation: &rundir.Saturation{
				Rate: rundir.Exactly(10 * v), Low: rundir.Exactly(9.9 * v), High: rundir.Exactly(10.1 * v),
				Output: rundir.Exactly(1280 * v),
			},
		}
		for _, load := range []float64{0, 5, 8} {
			run.Stages = append(run.Stages, stage(load, 1, 0.01))
		}
		all = append(all, setup.Input{Path: fmt.Sprint("run", i), Run: run})
	}
	return setup.Load(all)
}

func unknown(*setup.Setup, string) stats.Spread { return stats.Spread{} }

// Equal servers whose runs differ by 4 % are called different by their own intervals in most pairs, and by several
// runs, or the known spread, in one of twenty.
func TestRunsAreTheUnit(t *testing.T) {
	t.Parallel()
	const trials, spread = 400, 0.04
	history := func(*setup.Setup, string) stats.Spread { return stats.Spread{Deviation: spread, DF: 20} }
	rng := rand.New(rand.NewPCG(1, 28))
	shown := func(c *Comparison) bool {
		for _, ch := range c.Changes {
			if ch.Key == keyRate {
				return ch.Shown != nil && *ch.Shown
			}
		}
		t.Fatal("no saturation rate")
		return false
	}
	var own, several, remembered, found int
	count := func(into *int, c *Comparison, err error) {
		if err != nil {
			t.Fatal(err)
		}
		if shown(c) {
			*into++
		}
	}
	for range trials {
		c, err := Of(append(unsteady(rng, 1, spread, 1), unsteady(rng, 1, spread, 1)...), false)
		count(&own, c, err)
		c, err = OfRuns([2][]setup.Setup{unsteady(rng, 3, spread, 1), unsteady(rng, 3, spread, 1)}, false, unknown)
		count(&several, c, err)
		c, err = OfRuns([2][]setup.Setup{unsteady(rng, 1, spread, 1), unsteady(rng, 1, spread, 1)}, false, history)
		count(&remembered, c, err)
		c, err = OfRuns([2][]setup.Setup{unsteady(rng, 3, spread, 1), unsteady(rng, 3, spread, 1.2)}, false, unknown)
		count(&found, c, err)
	}
	t.Logf("of %d pairs of equal servers %d are called different by one run a side, %d by three, %d by one with the known spread", trials, own, several, remembered)
	t.Logf("%d of %d servers that are a fifth faster are by three", found, trials)
	if own < trials/2 || several > trials*8/100 || remembered > trials*8/100 || found < trials*9/10 {
		t.Errorf("%d, %d, %d, %d", own, several, remembered, found)
	}
}

// One run a side shows nothing where no spread between runs is known, and a gate cannot judge it.
func TestOneRunASide(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 28))
	c, err := OfRuns([2][]setup.Setup{unsteady(rng, 1, 0, 1), unsteady(rng, 1, 0, 0.5)}, false, unknown)
	if err != nil {
		t.Fatal(err)
	}
	gate, err := ParseGate("saturation<-10%", Keys())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Failures(gate)) > 0 || len(c.Unjudged(gate)) != 1 {
		t.Errorf("failures %v, unjudged %v", c.Failures(gate), c.Unjudged(gate))
	}
}

// Sides of different workloads, and an empty side, are refused.
func TestSidesAreAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 28))
	a, b := unsteady(rng, 2, 0.01, 1), unsteady(rng, 2, 0.01, 1)
	if _, err := OfRuns([2][]setup.Setup{a, nil}, false, unknown); err == nil {
		t.Error("an empty side")
	}
	b[0].Run.Workload.PromptTokens.Mean = 64
	if _, err := OfRuns([2][]setup.Setup{a, b}, false, unknown); !Incomparable(err) {
		t.Error(err)
	}
}
