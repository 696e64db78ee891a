package twin

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/sim"
	"llmsweep/client/sim/habit"
	"llmsweep/sweep"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// known is a server whose costs are known: a step takes at least 20 ms.
func known() sim.Config {
	return sim.Config{
		Costs: &sim.Costs{
			Read:    sim.ReadCosts{Fixed: 20e-3, Context: 300e-9, Token: 50e-6},
			Compute: sim.ComputeCosts{Fixed: 4e-3, Token: 200e-6, Sample: 100e-6, Pair: 50e-9},
		},
		MaxNumSeqs: 24, MaxBatchedTokens: 512, KVTokens: 16 * 800, Latency: 8 * time.Millisecond, Jitter: 0.02, Seed: 3,
	}
}

func fitOf(t *testing.T, server sim.Config, prompt, output int) *Twin {
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
		truth, got := server.TruthOf(w, 0, 0).Capacity, tw.Saturation(w, 0)
		near("saturation", got.Value, truth, 0.04)
		if got.Low > truth || got.High < truth || got.High-got.Low > 0.4*truth {
			t.Errorf("%v: the interval %.4g-%.4g does not hold %.4g, or is too wide", w, got.Low, got.High, truth)
		}
	}
}

// TestTheFileIsRead writes a twin, reads it again, and gets the same server; unknown keys and nonsense are refused.
func TestTheFileIsRead(t *testing.T) {
	tw := &Twin{Version: Version, Slots: 8, StepTokens: 256, Step: Step{Read: Read{FixedMS: 10}}, Draws: [][]float64{{1, 2, 3, 4, 5, 6, 7, 8}},
		Intervals: map[string][2]float64{"step.read.fixed_ms": {9, 11}}, Unknown: []string{"kv_tokens"}}
	b, err := tw.Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "twin.yaml")
	open := func(text string) (*Twin, error) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return Open(path)
	}
	again, err := open(string(b))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tw, again); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	for text, want := range map[string]string{
		string(b) + "speed: 3\n":                                     "speed",
		strings.Replace(string(b), "twin: 1", "twin: 2", 1):          "twin: 1",
		strings.Replace(string(b), "slots: 8", "slots: 0", 1):        "slots",
		strings.Replace(string(b), "fixed_ms: 10", "fixed_ms: 0", 1): "no time",
		"url: http://x\n": "url",
	} {
		if _, err := open(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q instead of an error about %s", err, want)
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

// TestOneLengthRefusesOthers: a run with one prompt length says nothing of others.
func TestOneLengthRefusesOthers(t *testing.T) {
	log, run := &rundir.Memory{}, &rundir.Run{}
	simtest.Beside(t, known(), func(t *testing.T, d load.Doer) {
		c := sweep.Defaults()
		c.Doer, c.Log, c.Warmup, c.Points, c.StageTime, c.StageMax, c.Precision = d, log, experiment.Warmup{}, 3, 10*time.Second, 20*time.Second, 0
		c.Sources = func(string) load.Source { return simtest.Same(128, 32) }
		if err := sweep.Sweep(t.Context(), c, run); err != nil {
			t.Fatal(err)
		}
	})
	tw, err := Fit(stagesIn(run, log))
	if err != nil {
		t.Fatal(err)
	}
	if a := tw.Ask(512, 32); a.Refused != RefusedLength || a.Rate != 0 {
		t.Errorf("prompts four times as long: %+v", a)
	}
	truth := known().TruthOf(sim.Workload{PromptTokens: 128, OutputTokens: 32}, 0, 0).Capacity
	if a := tw.Ask(128, 32); math.Abs(a.Rate/truth-1) > 0.03 || a.Low > truth || a.High < truth {
		t.Errorf("the measured lengths: %+v, want %.4g", a, truth)
	}
}

// TestTooLittleIsRefused: no twin comes from records without tokens.
func TestTooLittleIsRefused(t *testing.T) {
	if _, err := Fit(nil); err != ErrNoSteps {
		t.Errorf("%v", err)
	}
	r := &rundir.Record{Sent: rundir.Exactly(0), FirstToken: rundir.Exactly(1), PromptTokens: rundir.Exactly(8), Status: "ok", GapsUS: []int64{1000, 1000}}
	if _, err := Fit([]Stage{{Name: "x", Width: 1, Records: []*rundir.Record{r}}}); err != ErrNoSteps {
		t.Errorf("%v", err)
	}
}

// TestTokensOfOnePieceAreSpread: what a proxy held back came at the same pace from the server.
func TestTokensOfOnePieceAreSpread(t *testing.T) {
	r := &rundir.Record{FirstToken: rundir.Exactly(1), GapsUS: []int64{10_000, 0, 0, 30_000}, Counts: []int32{1, 1, 1, 1, 2}}
	q := request{tokens: instants(r)}
	if n := q.spread(); n != 3 {
		t.Errorf("%d tokens came with others, want 3", n)
	}
	want := []float64{1, 1 + 0.01/3, 1 + 0.02/3, 1.01, 1.025, 1.04}
	for i, at := range q.tokens {
		if math.Abs(at-want[i]) > 1e-9 {
			t.Errorf("token %d at %v, want %v", i, at, want[i])
		}
	}
}
