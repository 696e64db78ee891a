package twin

import (
	"math"
	"slices"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/client/sim/habit"
	"llmsweep/sweep"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
)

// known is a server whose costs are known: a step takes at least 20 ms.
func known() sim.MachineConfig {
	return sim.MachineConfig{
		Costs: &sim.Costs{
			Read:    sim.ReadCosts{Fixed: 20e-3, Context: 300e-9, Token: 50e-6},
			Compute: sim.ComputeCosts{Fixed: 4e-3, Token: 200e-6, Sample: 100e-6, Pair: 50e-9},
		},
		MaxNumSeqs: 24, MaxBatchedTokens: 512, KVTokens: 16 * 800, Latency: 8 * time.Millisecond, Jitter: 0.02, Seed: 3,
	}
}

func fitOf(t *testing.T, server sim.MachineConfig, prompt, output int) *Twin {
	t.Helper()
	tw, err := Fit(swept(t, server, prompt, output, 3*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return tw
}

// TestAKnownServerIsFound fits a server, and compares the numbers of the twin with its own.
func TestAKnownServerIsFound(t *testing.T) {
	server := known()
	tw := fitOf(t, server, 256, 64)
	c := tw.Config()
	if c.MaxNumSeqs != 24 || c.MaxBatchedTokens != 512 {
		t.Errorf("%d slots and a budget of %d, want 24 and 512; unknown: %v", c.MaxNumSeqs, c.MaxBatchedTokens, tw.Unknown)
	}
	near := func(name string, got, want, within float64) {
		t.Helper()
		if math.Abs(got/want-1) > within {
			t.Errorf("%s is %.4g, want %.4g", name, got, want)
		}
	}
	near("KV cache", float64(c.KVTokens), 12800, 0.02)
	near("latency", c.Latency.Seconds(), 8e-3, 0.3)
	near("jitter", c.Jitter, 0.02, 0.15)
	for _, b := range []sim.Batch{
		{Tokens: 1, Samples: 1, Context: 300, Pairs: 300}, {Tokens: 24, Samples: 24, Context: 24 * 300, Pairs: 24 * 300},
		{Tokens: 512, Samples: 1, Context: 512, Pairs: 512 * 256}, {Tokens: 200, Samples: 12, Context: 4000, Pairs: 40000},
	} {
		near("the time of a step", c.StepTime(b).Seconds(), server.StepTime(b).Seconds(), 0.03)
	}
	if tw.Check == nil || !tw.Check.Passed || tw.Check.Error > 0.03 {
		t.Errorf("the check says %+v", tw.Check)
	}
	for _, w := range []sim.Workload{{PromptTokens: 256, OutputTokens: 64}, {PromptTokens: 900, OutputTokens: 24}} {
		truth, got := sim.TruthOf(server, w, 0, 0).Capacity, tw.Saturation(w, 0)
		near("saturation", got.Value, truth, 0.04)
		if got.Low > truth || got.High < truth || got.High-got.Low > 0.4*truth {
			t.Errorf("%v: the interval %.4g-%.4g does not hold %.4g, or is too wide", w, got.Low, got.High, truth)
		}
	}
}

// TestAServerThatChangesFailsTheCheck: what the first half of a sweep shows does not hold in the second.
func TestAServerThatChangesFailsTheCheck(t *testing.T) {
	server := known()
	server.Habits = habit.List{habit.Drifts{Share: 0.3}}
	if tw := fitOf(t, server, 256, 64); tw.Check == nil || tw.Check.Passed {
		t.Errorf("a server that slows down by 30 %% a minute passes: %+v", tw.Check)
	}
}

// TestAFixedTimePerRequestFailsTheCheck: a fixed time to the first token that keeps a slot busy is not what a twin is made of. The stages with the usual lengths
// hide that; short answers show it.
func TestAFixedTimePerRequestFailsTheCheck(t *testing.T) {
	tw := fitOf(t, simtest.Preset(t, "plain8"), 512, 128)
	if tw.Check == nil || tw.Passed() || !slices.ContainsFunc(tw.Check.Misses(), func(m Miss) bool { return m.Stage == "short answers" && m.Part == PartOutput }) {
		t.Errorf("the check says %+v", tw.Check)
	}
}

// TestOneLengthRefusesOthers: a run with one prompt length says nothing of others.
func TestOneLengthRefusesOthers(t *testing.T) {
	log, run := &store.Memory{}, &rundir.Run{}
	simtest.Beside(t, known(), func(t *testing.T, d load.Doer) {
		c := sweep.Defaults()
		c.Doer, c.Log, c.Warmup, c.Points, c.StageTime, c.StageMax, c.Precision = d, log, experiment.Warmup{}, 3, 10*time.Second, 20*time.Second, 0
		c.Sources = func(string) load.Source { return simtest.SameInAll(128, 32) }
		if err := sweep.Sweep(t.Context(), c, run); err != nil {
			t.Fatal(err)
		}
	})
	tw, err := Fit(stagesIn(run, log))
	if err != nil {
		t.Fatal(err)
	}
	if a := tw.Ask(only(512, 32)); a.Refused != RefusedLength || a.Rate != 0 {
		t.Errorf("prompts four times as long: %+v", a)
	}
	truth := sim.TruthOf(known(), sim.Workload{PromptTokens: 128, OutputTokens: 32}, 0, 0).Capacity
	if a := tw.Ask(only(128, 32)); math.Abs(a.Rate/truth-1) > 0.03 || a.Low > truth || a.High < truth {
		t.Errorf("the measured lengths: %+v, want %.4g", a, truth)
	}
}

// TestTooLittleIsRefused: no twin comes from records without tokens.
func TestTooLittleIsRefused(t *testing.T) {
	if _, err := Fit(nil); err != errNoSteps {
		t.Errorf("%v", err)
	}
	r := &rundir.Record{Sent: rundir.Exactly(0), FirstToken: rundir.Exactly(1), PromptTokens: rundir.Exactly(8), Status: "ok", GapsUS: []int64{1000, 1000}}
	if _, err := Fit([]Stage{{Name: "x", Width: 1, Records: []*rundir.Record{r}}}); err != errNoSteps {
		t.Errorf("%v", err)
	}
}
