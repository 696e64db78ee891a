package twin

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
)

func TestMain(m *testing.M) { simtest.StatisticsMain(m) }

// fitDrawn is a source of sessions whose lengths are drawn.
type fitDrawn struct {
	draw sweep.Draw
	rng  *rand.Rand
}

func (d fitDrawn) Next() (load.Session, bool) {
	p, o := d.draw(d.rng)
	return simtest.SameInAll(p, o).Next()
}

// swept sweeps a simulated server for a fit, in virtual time, and returns its stages.
func swept(t *testing.T, server sim.MachineConfig, prompt, output int, budget time.Duration) []Stage {
	t.Helper()
	log, run := &store.Memory{}, &rundir.Run{}
	simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
		c := sweep.Defaults()
		c.Doer, c.Log, c.Warmup, c.Budget = d, log, experiment.Warmup{Requests: 1}, budget
		c.Sources = func(string) load.Source { return simtest.SameInAll(prompt, output) }
		design := sweep.FitDesign{Prompt: float64(prompt), Output: float64(output), Source: func(stage string, d sweep.Draw) load.Source {
			return fitDrawn{d, stats.Rand(1, "fit", stage)}
		}}
		if err := sweep.ForFit(t.Context(), c, design, run); err != nil {
			t.Fatal(err)
		}
	})
	if end := run.Ended.Sub(run.Started); end > budget {
		t.Errorf("the sweep took %v", end)
	}
	return stagesIn(run, log)
}

// stagesIn returns the stages of a run in memory.
func stagesIn(run *rundir.Run, log *store.Memory) (all []Stage) {
	for i := range run.Stages {
		st := &run.Stages[i]
		s := stagesFrom(st)
		for r := range log.Records(st.Name) {
			s.Records = append(s.Records, r)
		}
		all = append(all, s)
	}
	return all
}

// TestRandomServersAreFitted fits random servers, and compares what the twins say of the same workload, and of one with prompts four times
// as long and answers half as long, which no stage measured.
func TestRandomServersAreFitted(t *testing.T) {
	var same, other []float64
	hits, asked := 0, 0
	for i := range uint64(simtest.SampleSize(1, 100)) {
		if from, _ := strconv.Atoi(os.Getenv("TWIN_FROM")); int(i) < from {
			continue
		}
		if only := os.Getenv("TWIN_SEED"); only != "" && only != fmt.Sprint(7000+i) {
			continue
		}
		k := simtest.Random(7000 + i)
		tw, err := Fit(swept(t, k.Server, k.Work.Prompt, k.Work.Output, sweep.FitTime))
		if err != nil {
			t.Errorf("%v: %v", k, err)
			continue
		}
		for _, far := range []bool{false, true} {
			w := sim.Workload{PromptTokens: k.Work.Prompt, OutputTokens: k.Work.Output}
			if far {
				w = sim.Workload{PromptTokens: 4 * w.PromptTokens, OutputTokens: w.OutputTokens / 2}
			}
			truth := sim.TruthOf(k.Server, w, k.Spread, 0).Capacity
			if truth == 0 {
				continue // the server cannot hold it
			}
			got := tw.Saturation(w, k.Spread)
			off := math.Abs(got.Value/truth - 1)
			asked++
			in := got.Low <= truth && truth <= got.High
			if in {
				hits++
			}
			if far {
				other = append(other, off)
			} else {
				same = append(same, off)
			}
			if os.Getenv("TWIN_COUNTS") != "" { // a job that is cut off still counts
				fmt.Printf("count seed %d far %v off %.4f in %v\n", k.Seed, far, off, in)
			}
			if off > 0.05 || !in {
				t.Logf("%v %v: truth %.4g, %.4g (%.4g-%.4g), off by %.1f %%; slots %d budget %d kv %d held %d unknown %v jitter %.3f", k, w, truth, got.Value, got.Low, got.High, off*100, tw.Slots, tw.StepTokens, tw.KVTokens, tw.Seen.KVTokens, tw.Unknown, tw.Jitter)
			}
		}
	}
	at := func(v []float64, q float64) float64 {
		v = slices.Sorted(slices.Values(v))
		return v[min(len(v)-1, int(q*float64(len(v))))]
	}
	covered := float64(hits) / float64(asked)
	simtest.Claim(t, "Twins of random servers: saturation against the computed truth, at the same workload, and at prompts x 4 and answers / 2",
		"median 3 %, p95 10 %; 10 %, 25 %; intervals hold 90 %", "%.1f %%, %.1f %%; %.1f %%, %.1f %%; %.0f %%",
		100*at(same, 0.5), 100*at(same, 0.95), 100*at(other, 0.5), 100*at(other, 0.95), 100*covered)
	t.Logf("same: median %.3f p95 %.3f; other: median %.3f p95 %.3f; intervals %.3f of %d", at(same, 0.5), at(same, 0.95), at(other, 0.5), at(other, 0.95), covered, asked)
	if at(same, 0.5) > 0.03 || at(same, 0.95) > 0.10 || at(other, 0.5) > 0.10 || at(other, 0.95) > 0.25 || covered < 0.9 {
		t.Error("beyond the limits")
	}
}
