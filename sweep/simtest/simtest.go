// Package simtest has simulated servers, workloads and disks for tests of the experiment. Such a test costs processor
// time and no waiting: it runs in the virtual time of testing/synctest.
//
// Statistical tests have three sizes. With the build tag "statistics" they run at the size that their claims need. With
// the tag and -short they are short, but still fail where the program judges wrongly: .ci/run does that. Without the
// tag, those tests that show nothing with a few draws are skipped, and say which command runs them.
package simtest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/sim"
	"llmsweep/client/testkit"
	"llmsweep/sweep/load"
	"llmsweep/sweep/slo"
)

// Full reports whether statistical tests run at full size.
func Full() bool { return tagged && !testing.Short() }

// SampleSize returns the size of a statistical test that fails with few draws too where the program judges wrongly:
// few, or full at full size. The race detector makes such tests ten times slower and finds nothing more in more of the
// same: then it is 1.
func SampleSize(few, full int) int {
	switch {
	case Full():
		return full
	case RaceDetector:
		return 1
	}
	return few
}

// Evidence returns the size of a statistical test that shows nothing with the few draws that everyday runs have time
// for: these skip it.
func Evidence(t *testing.T, short, full int) int {
	t.Helper()
	switch {
	case !tagged:
		path := ""
		if info, ok := debug.ReadBuildInfo(); ok {
			path = strings.TrimPrefix(strings.TrimSuffix(info.Path, ".test"), "llmsweep/")
		}
		t.Skipf("it takes %d draws to show something, %d with -short: go test -tags statistics -run '^%s$' ./%s", full,
			short, t.Name(), path)
	case testing.Short():
		return short
	}
	return full
}

// MayFail returns how many of n draws may fail where at most a share of all draws does: that share at full size, and
// two standard deviations more in short tests.
func MayFail(n int, share float64) float64 {
	most := share * float64(n)
	if !Full() {
		most += 2 * math.Sqrt(share*(1-share)*float64(n))
	}
	return most
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
	return Fixed{drawLength(v.Rng, v.Prompt, v.Spread), drawLength(v.Rng, v.Output, v.Spread)}.Next()
}

// drawLength draws a number of tokens with a coefficient of variation; 0 returns the mean, and draws nothing.
func drawLength(rng *rand.Rand, mean int, variation float64) int {
	if variation == 0 {
		return mean
	}
	const longest = 3 // standard deviations above the mean
	return max(1, int(math.Round(float64(mean)*(1+variation*min(max(rng.NormFloat64(), -1/variation), longest)))))
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
	return trial(seed, randomServer(rand.New(rand.NewPCG(seed, trialStream))))
}

// RandomWith returns the trial of a seed whose server has a habit, such as "sheds".
func RandomWith(seed uint64, name string) *Trial {
	return trial(seed, randomServerWith(rand.New(rand.NewPCG(seed, trialStream)), name))
}

// trialStream keeps trials apart from other random numbers of the same seed.
const trialStream = 11

func trial(seed uint64, s DrawnServer) *Trial {
	return &Trial{Seed: seed, Server: s.Config, Work: Fixed{s.Work.PromptTokens, s.Work.OutputTokens}, Spread: s.Spread}
}

// String describes the trial in a line.
func (k *Trial) String() string {
	line := fmt.Sprintf("seed %d: %s/%sx%d/%s seqs %d %v+-%.1f jitter %.3f", k.Seed, k.Server.Model.Name,
		k.Server.GPU.Name, k.Server.TP,
		k.Server.Quant, k.Server.MaxNumSeqs, k.Work, k.Spread, k.Server.Jitter)
	if k.Server.Habits != (sim.Habits{}) {
		line += fmt.Sprintf(" %+v", k.Server.Habits)
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

// Terms parses the terms of an SLO.
func Terms(texts ...string) []slo.Term { return testkit.Must(slo.ParseAll(texts)) }

// Slowed returns a machine all of whose times are longer by a factor. A second of a stage then takes fewer requests.
func Slowed(config sim.MachineConfig, factor float64) sim.MachineConfig {
	config.StepOverhead = time.Duration(float64(cmp.Or(config.StepOverhead, sim.DefaultStepOverhead)) * factor)
	config.GPU.BandwidthBytes, config.GPU.PeakFP16 = config.GPU.BandwidthBytes/factor, config.GPU.PeakFP16/factor
	return config
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
