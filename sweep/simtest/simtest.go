// Package simtest has simulated servers and workloads for tests of the experiment. Such a test costs processor time and no waiting: it runs
// in the virtual time of testing/synctest. With the build tag "statistics" the statistical tests run at the size that their claims
// need; without it at a size that shows that they work.
package simtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"llmsweep/client/sim"
	"llmsweep/sweep/load"
	"llmsweep/sweep/virtual"
)

// Size returns the size of a statistical test: few in everyday runs, full with the build tag "statistics". The race detector makes such
// tests ten times slower and finds nothing more in more of the same: then it is 1.
func Size(few, full int) int {
	switch {
	case Statistics:
		return full
	case raced:
		return 1
	}
	return few
}

// Fixed is a workload of sessions that are all alike.
type Fixed struct{ Prompt, Output int } // tokens

// Same returns a workload of sessions that are all alike, of a number of prompt and output tokens.
func Same(prompt, output int) Fixed { return Fixed{prompt, output} }

// Next returns the next session.
func (f Fixed) Next() (load.Session, bool) {
	return load.Session{Turns: []load.Turn{{User: "hello", PromptTokens: f.Prompt, OutputTokens: f.Output}}}, true
}

// Capacity returns what a server does of the workload, computed.
func (f Fixed) Capacity(c sim.Config) sim.Capacity {
	return c.Capacity(sim.Workload{PromptTokens: f.Prompt, OutputTokens: f.Output})
}

// Varied is a workload of prompts and answers of random length.
type Varied struct {
	Fixed          // mean lengths
	Spread float64 // their coefficient of variation; 0 for all alike
	Rng    *rand.Rand
}

// Next returns the next session.
func (v Varied) Next() (load.Session, bool) {
	if v.Spread == 0 {
		return v.Fixed.Next()
	}
	draw := func(mean int) int {
		return max(1, int(math.Round(float64(mean)*(1+v.Spread*min(max(v.Rng.NormFloat64(), -1/v.Spread), 3)))))
	}
	return Fixed{draw(v.Prompt), draw(v.Output)}.Next()
}

// Trial is a random server with a workload that it can hold.
type Trial struct {
	Seed   uint64
	Server sim.Config
	Work   Fixed // mean lengths
	Spread float64
}

// Random returns the trial of a seed.
func Random(seed uint64) *Trial {
	rng := rand.New(rand.NewPCG(seed, 11))
	gpus, models := sim.GPUs(), sim.Models()
	for {
		c := sim.Config{
			GPU: gpus[rng.IntN(len(gpus))], Model: models[rng.IntN(len(models))], TP: 1 << rng.IntN(3),
			Quant:      []sim.Quant{sim.FP16, sim.INT8, sim.INT4}[rng.IntN(3)],
			MaxNumSeqs: 8 << rng.IntN(5), Jitter: 0.05 * rng.Float64(), Seed: rng.Uint64(),
		}
		w := Fixed{32 << rng.IntN(6), 16 << rng.IntN(5)}
		spread := []float64{0, 0.2, 0.5}[rng.IntN(3)]
		if k := w.Capacity(c); k.RequestsPerSecond > 0.5 && k.RequestsPerSecond < 60 {
			if live, err := sim.Start(c); err == nil {
				live.Close()
				return &Trial{Seed: seed, Server: c, Work: w, Spread: spread}
			}
		}
	}
}

// String describes the trial in a line.
func (k *Trial) String() string {
	return fmt.Sprintf("seed %d: %s/%sx%d/%s seqs %d %v+-%.1f jitter %.3f", k.Seed, k.Server.Model.Name, k.Server.GPU.Name, k.Server.TP,
		k.Server.Quant, k.Server.MaxNumSeqs, k.Work, k.Spread, k.Server.Jitter)
}

// Preset returns the configuration of a named server.
func Preset(t *testing.T, name string) sim.Config {
	t.Helper()
	c, err := sim.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Beside runs f in virtual time beside a simulated server.
func Beside(t *testing.T, server sim.Config, f func(t *testing.T, d load.Doer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		live, err := sim.Start(server)
		if err != nil {
			t.Fatal(err)
		}
		defer live.Close()
		f(t, virtual.Doer{Live: live})
	})
}
