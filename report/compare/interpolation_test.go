package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// gridded is a run of a server whose latency is flat while it keeps up and rises where a queue begins (Sakasegawa's
// approximation for several servers), with rows at random rates.
func gridded(rng *rand.Rand, name string, slots float64) setup.Input {
	const capacity, noise = 10.0, 0.02
	run := &rundir.Run{
		Schema: rundir.Schema, State: rundir.Complete, Client: rundir.Client{Valid: true}, Labels: rundir.Labels{Model: "m",
			GPU: "G", GPUs: 1, Engine: name},
		Workload: rundir.Workload{PromptTokens: rundir.Lengths{Mean: 512}, OutputTokens: rundir.Lengths{Mean: 128}},
		Saturation: &rundir.Saturation{Rate: rundir.Exactly(capacity), Low: rundir.Exactly(capacity * 0.97),
			High: rundir.Exactly(capacity * 1.03), Output: rundir.Exactly(1280)},
	}
	var loads []float64
	for range 3 + rng.IntN(5) {
		loads = append(loads, 0.3+0.68*rng.Float64())
	}
	slices.Sort(loads)
	for i, load := range append([]float64{0}, loads...) {
		wait := math.Pow(load, math.Sqrt(2*(slots+1))-1) / (1 - load) / slots
		ttft := 0.025 * (1 + 8*wait) * (1 + noise/2*rng.NormFloat64())
		s := stage(load*capacity, 1, noise)
		s.Name = fmt.Sprintf("%s-%d", s.Name, i)
		s.TTFT = rundir.Dist{N: 600, Mean: rundir.Exactly(ttft),
			CI: map[string][2]float64{"mean": {ttft * (1 - noise), ttft * (1 + noise)}}}
		run.Stages = append(run.Stages, s)
	}
	return setup.Input{Path: name, Run: run}
}

// Two runs of one server with rows at different rates must not fail a gate: across the edge of saturation a latency
// between two rows is either known with an interval or cannot be judged.
func TestInterpolationAcrossTheEdge(t *testing.T) {
	gate, err := ParseGate("ttft@80>10%", Keys())
	if err != nil {
		t.Fatal(err)
	}
	const trials = 600
	failed, unjudged := 0, 0
	for seed := range uint64(trials) {
		rng := rand.New(rand.NewPCG(seed, 5))
		slots := float64(int(1) << rng.IntN(7))
		c := compared(t, setup.Load([]setup.Input{gridded(rng, "before", slots), gridded(rng, "after", slots)}))
		if len(c.Failures(gate)) > 0 {
			failed++
		}
		if len(c.Unjudged(gate)) > 0 {
			unjudged++
		}
	}
	t.Logf("of %d pairs of runs of one server %d fail, %d cannot be judged", trials, failed, unjudged)
	if failed > trials*4/100 {
		t.Errorf("%d of %d pairs of runs of one server fail the gate", failed, trials)
	}
	if unjudged > trials*2/3 {
		t.Errorf("%d of %d pairs cannot be judged", unjudged, trials)
	}
}
