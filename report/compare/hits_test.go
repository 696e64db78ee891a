package compare

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// hitting is a run of a speed whose rows have a hit rate; a negative one is not reported.
func hitting(name string, speed, hits float64) setup.Setup {
	run := unsteady(rand.New(rand.NewPCG(1, 2)), 1, 0, speed)[0].Run
	run.Labels.GPU = name
	for i := range run.Stages {
		st := &run.Stages[i]
		st.PromptTokens = rundir.TokenStats{N: 100, Mean: rundir.Exactly(512)}
		if hits >= 0 {
			st.Hits = &rundir.Hits{Ideal: rundir.Exactly(hits), Reported: rundir.Exactly(hits), Source: rundir.HitsOfUsage}
		}
	}
	return setup.Load([]setup.Input{{Path: name, Run: run}})[0]
}

// Runs whose hit rates differ are compared at equal uncached tokens, or refused; with like hit rates they are compared
// as others.
func TestRunsOfDifferentHits(t *testing.T) {
	keys := func(c *Comparison) map[string]float64 {
		all := map[string]float64{}
		for _, ch := range c.Changes {
			all[ch.Key] = ch.Ratio.Value()
		}
		return all
	}
	like := keys(compared(t, []setup.Setup{hitting("A", 1, 0.80), hitting("B", 0.5, 0.75)}))
	if _, uncached := like[keyUncached]; uncached || math.Abs(like[keyRate]+0.5) > 1e-9 {
		t.Errorf("like hits: %v", like)
	}
	untold := keys(compared(t, []setup.Setup{hitting("A", 1, 0.80), hitting("B", 0.5, -1)}))
	if _, rate := untold[keyRate]; !rate {
		t.Errorf("one is not known: %v", untold)
	}

	setups := []setup.Setup{hitting("A", 1, 0.80), hitting("B", 0.5, 0.30)}
	c := compared(t, setups)
	apart := keys(c)
	want := (640+5*512*0.7)/(1280+10*512*0.2) - 1
	if _, rate := apart[keyRate]; rate || math.Abs(apart[keyUncached]-want) > 1e-9 || len(c.Factors) > 0 {
		t.Errorf("apart: %v, want %v of %s; factors %+v", apart, want, keyUncached, c.Factors)
	}
	said := ""
	for _, n := range c.Cautions() {
		said += n.In(lang.English) + n.In(lang.Chinese)
	}
	for _, want := range []string{"(m, 1 x A 80 %, m, 1 x B 30 %): only uncached tokens per second",
		"30 %）：只比较每秒未命中缓存的 token"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	if any, err := Of(setups, true); err != nil || math.Abs(keys(any)[keyRate]+0.5) > 1e-9 {
		t.Errorf("with --any-workload: %v, %v", any, err)
	}

	setups[1].Plateau.Rising = true // there is no rate of uncached tokens
	if _, err := Of(setups, false); err == nil || !strings.Contains(err.Error(), "measure both with equal --cache-hits") {
		t.Errorf("no plateau: %v", err)
	}
	if _, err := OfRuns([2][]setup.Setup{setups[:1], setups[1:]}, false, unknown); err == nil ||
		!strings.Contains(err.Error(), "80 % of its prompt tokens") {
		t.Errorf("several runs a side: %v", err)
	}
}
