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
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/load"
)

// SampleSize returns the size of a statistical test: few in everyday runs, full with the build tag "statistics". The race detector makes such
// tests ten times slower and finds nothing more in more of the same: then it is 1.
func SampleSize(few, full int) int {
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

// SameInAll returns a workload of sessions that are all alike, of a number of prompt and output tokens.
func SameInAll(prompt, output int) Fixed { return Fixed{prompt, output} }

// Next returns the next session.
func (f Fixed) Next() (load.Session, bool) {
	return load.Session{Turns: []load.Turn{{User: "hello", PromptTokens: f.Prompt, OutputTokens: f.Output}}}, true
}

// Capacity returns what a server does of the workload, computed.
func (f Fixed) Capacity(c sim.MachineConfig) sim.Capacity {
	return sim.CapacityOf(c, sim.Workload{PromptTokens: f.Prompt, OutputTokens: f.Output})
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
	Server sim.MachineConfig
	Work   Fixed // mean lengths
	Spread float64
}

// Random returns the trial of a seed.
func Random(seed uint64) *Trial {
	return trial(seed, RandomServer(rand.New(rand.NewPCG(seed, trialStream))))
}

// RandomWith returns the trial of a seed whose server has a habit, such as "sheds". See package habit.
func RandomWith(seed uint64, name string) *Trial {
	return trial(seed, RandomServerWith(rand.New(rand.NewPCG(seed, trialStream)), name))
}

// trialStream keeps trials apart from other random numbers of the same seed.
const trialStream = 11

func trial(seed uint64, s DrawnServer) *Trial {
	return &Trial{Seed: seed, Server: s.Config, Work: Fixed{s.Work.PromptTokens, s.Work.OutputTokens}, Spread: s.Spread}
}

// Truth returns what the server does with the workload at a time since its start, computed.
func (k *Trial) Truth(at time.Duration) sim.Rates {
	return sim.TruthOf(k.Server, sim.Workload{PromptTokens: k.Work.Prompt, OutputTokens: k.Work.Output}, k.Spread, at)
}

// String describes the trial in a line.
func (k *Trial) String() string {
	line := fmt.Sprintf("seed %d: %s/%sx%d/%s seqs %d %v+-%.1f jitter %.3f", k.Seed, k.Server.Model.Name, k.Server.GPU.Name, k.Server.TP,
		k.Server.Quant, k.Server.MaxNumSeqs, k.Work, k.Spread, k.Server.Jitter)
	if len(k.Server.Habits) > 0 {
		line += " " + k.Server.Habits.String()
	}
	return line
}

// Preset returns the configuration of a named server.
func Preset(t *testing.T, name string) sim.MachineConfig {
	t.Helper()
	c, err := sim.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Beside runs f in virtual time beside a simulated server.
func Beside(t *testing.T, server sim.MachineConfig, f func(t *testing.T, d load.Doer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		live, err := sim.Start(server)
		if err != nil {
			t.Fatal(err)
		}
		defer live.Close()
		f(t, VirtualDoer{Live: live})
	})
}
