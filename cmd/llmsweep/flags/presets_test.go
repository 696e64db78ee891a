package flags

import (
	"math"
	"strings"
	"testing"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
	"llmsweep/sweep/workload"
)

// TestPresets: each preset draws the mean that it names, although drawn lengths are cut; flags replace its parts.
func TestPresets(t *testing.T) {
	for name, of := range map[string]rundir.Lengths{
		"chat": {Mean: 2, Min: 1, Shape: rundir.ShapeExponential}, "agent": {Mean: 38, Std: 6, Min: 25, Max: 57},
		"rag": {Mean: 1.8, Min: 1, Shape: rundir.ShapeExponential},
	} {
		o, err := (&Workload{Preset: name, DatasetRows: 1}).Parse()
		if err != nil {
			t.Fatal(name, err)
		}
		spec := o.Spec(nil)
		if !spec.Talking || spec.Talk.Turns != of {
			t.Errorf("%s: %+v", name, spec)
		}
		for _, l := range []rundir.Lengths{spec.Talk.Turns, spec.Talk.First, spec.Talk.Later, spec.Talk.Output} {
			rng, sum := stats.Rand(1, "test", name), 0
			for range 50_000 {
				sum += workload.Draw(l, rng)
			}
			if mean := float64(sum) / 50_000; math.Abs(mean/l.Mean-1) > 0.04 {
				t.Errorf("%s: %+v draws %.2f on average", name, l, mean)
			}
		}
	}
	o, err := (&Workload{Preset: "agent", DatasetRows: 1, Turns: "3", PromptTokens: "100",
		AnswerLimit: 7}).Parse()
	if err != nil {
		t.Fatal(err)
	}
	spec := o.Spec(nil)
	if got := spec.Talk; got.Turns.Mean != 3 || got.First.Mean != 100 || got.Output.Mean != 7 || got.Later.Mean != 1652 ||
		spec.PrefixTokens != 0 {
		t.Errorf("%+v", spec)
	}
	if _, err := (&Workload{Preset: "chat", Prompt: "x", DatasetRows: 1}).Parse(); err == nil {
		t.Error("a preset and a text are accepted together")
	}
	if _, err := (&Workload{Preset: "traffic.jsonl", DatasetRows: 1}).Parse(); err == nil ||
		!strings.Contains(err.Error(), "chat, agent and rag") {
		t.Error(err)
	}
}
