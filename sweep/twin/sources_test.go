package twin

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
)

// asked is a workload as multiples of the measured lengths.
type asked struct{ prompt, answer float64 }

func (a asked) of(w simtest.Fixed) sim.Workload {
	return sim.Workload{PromptTokens: max(1, int(a.prompt*float64(w.Prompt))), OutputTokens: max(1, int(a.answer*float64(w.Output)))}
}

// cell is what twins from one source said of one workload.
type cell struct {
	asked, answered, held int
	off                   []float64
	why                   map[string]int // refusals
}

func (c *cell) add(a Answer, truth float64) {
	c.asked++
	if a.Refused != "" {
		c.refuse(a.Refused)
		return
	}
	c.answered++
	c.off = append(c.off, math.Abs(a.Rate/truth-1))
	if a.Low <= truth && truth <= a.High {
		c.held++
	}
}

func (c *cell) refuse(why string) {
	if c.why == nil {
		c.why = map[string]int{}
	}
	c.why[why]++
}

func (c *cell) String() string {
	if c.answered == 0 {
		return fmt.Sprintf("refused (%d of %d) | | ", c.asked, c.asked)
	}
	slices.Sort(c.off)
	at := func(q float64) float64 { return 100 * c.off[min(len(c.off)-1, int(q*float64(len(c.off))))] }
	return fmt.Sprintf("%d of %d | %.1f %%, %.1f %% | %d of %d", c.answered, c.asked, at(0.5), at(0.95), c.held, c.answered)
}

// sweptUsually sweeps a simulated server as llmsweep sweep does without flags, with one length, in virtual time.
func sweptUsually(t *testing.T, k *simtest.Trial, budget time.Duration) []Stage {
	t.Helper()
	log, run := &store.Memory{}, &rundir.Run{}
	simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
		c := sweep.Defaults()
		c.Doer, c.Log, c.Warmup, c.Budget = d, log, experiment.Warmup{Requests: 1}, budget
		c.Sources = func(string) load.Source { return k.Work }
		if err := sweep.Sweep(t.Context(), c, run); err != nil {
			t.Fatal(err)
		}
	})
	return stagesIn(run, log)
}

// noRecords returns what a published table has of stages: no records.
func noRecords(all []Stage) []Stage {
	all = slices.Clone(all)
	for i := range all {
		all[i].Records = nil
	}
	return all
}

// TestWhatSourcesPredict fits random servers from a published table, from a usual sweep with one length, and from a sweep for a fit, and asks each
// twin about other lengths. It prints the table of examples/twin/README.md.
func TestWhatSourcesPredict(t *testing.T) {
	servers := simtest.Evidence(t, 1, 12)
	workloads := []asked{{1, 1}, {1, 0.5}, {1, 2}, {1, 4}, {0.5, 1}, {2, 1}, {4, 1}, {4, 0.5}}
	sources := []string{"published table", "usual sweep", "sweep --for-fit"}
	cells := map[string][]cell{}
	for _, s := range sources {
		cells[s] = make([]cell, len(workloads))
	}
	for i := range uint64(servers) {
		k := simtest.Random(8000 + i)
		k.Spread = 0
		usual := sweptUsually(t, k, sweep.FitTime)
		for source, measured := range map[string][]Stage{
			sources[0]: noRecords(usual), sources[1]: usual, sources[2]: swept(t, k.Server, k.Work.Prompt, k.Work.Output, sweep.FitTime),
		} {
			tw, err := Fit(measured)
			if err != nil && !errors.Is(err, errNoSteps) {
				t.Fatal(err)
			}
			for n, w := range workloads {
				asked := w.of(k.Work)
				truth := sim.TruthOf(k.Server, asked, 0, 0).Capacity
				if truth == 0 {
					continue // the server cannot hold it
				}
				c := &cells[source][n]
				if err != nil {
					c.asked++
					c.refuse("no records")
					continue
				}
				a := tw.Ask(only(asked.PromptTokens, asked.OutputTokens))
				if c.add(a, truth); os.Getenv("TWIN_COUNTS") != "" {
					fmt.Printf("count seed %d %s %v truth %.4g %+v check %v\n", k.Seed, source, w, truth, a, tw.Check != nil && tw.Check.Passed)
				}
			}
		}
	}
	var b strings.Builder
	b.WriteString("\n| from | prompts x | answers x | predicted | error, median and p95 | interval holds |\n|---|---:|---:|---|---|---|\n")
	for _, s := range sources {
		for n, w := range workloads {
			fmt.Fprintf(&b, "| %s | %g | %g | %s |\n", s, w.prompt, w.answer, &cells[s][n])
		}
	}
	t.Log(b.String())
	for n := range workloads {
		if cells[sources[0]][n].answered > 0 {
			t.Error("a twin came from no records")
		}
	}
	for n, w := range workloads {
		switch c := &cells[sources[1]][n]; {
		case w.prompt != 1 && c.answered > 0:
			t.Errorf("prompts x %g were predicted from one length", w.prompt)
		case w == asked{1, 1} && c.answered == 0:
			t.Error("the measured length was refused")
		}
	}
}
