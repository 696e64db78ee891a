package sweep

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/virtual"
)

// stageVirtually runs one open-loop stage on a fresh simulated server.
func stageVirtually(t *testing.T, server sim.Config, w fixed, rate float64, seed uint64) rundir.Stage {
	t.Helper()
	var st rundir.Stage
	synctest.Test(t, func(t *testing.T) {
		live, err := sim.Start(server)
		if err != nil {
			t.Fatal(err)
		}
		defer live.Close()
		c := Defaults()
		c.Doer, c.Log, c.Seed = virtual.Doer{Live: live}, &rundir.Memory{}, seed
		c.Sources = func(string) Source { return w }
		x := &experiment{Config: c, run: &rundir.Run{}, started: time.Now()}
		if st, err = x.stage(t.Context(), x.open(rate, rundir.Grid)); err != nil {
			t.Fatal(err)
		}
	})
	return st
}

// Verdicts well below and well above capacity must be right, or honestly undecided. LLMSWEEP_SEEDS=200 is the long way.
func TestVerdicts(t *testing.T) {
	seeds := 6
	if n, err := strconv.Atoi(os.Getenv("LLMSWEEP_SEEDS")); err == nil {
		seeds = n
	}
	for _, server := range []struct {
		name string
		w    fixed
	}{{"Qwen2-7B/L20/fp16", fixed{512, 128}}, {"Qwen2-7B/A100 80GB/int4", fixed{256, 64}}, {"demo", fixed{64, 16}}} {
		config := preset(t, server.name)
		capacity := config.Capacity(sim.Workload{PromptTokens: server.w.prompt, OutputTokens: server.w.output}).RequestsPerSecond
		for _, load := range []float64{0.3, 0.5, 0.8, 0.9, 1.1, 1.2} {
			verdicts := map[string]int{}
			elapsed := 0.0
			for seed := range seeds {
				st := stageVirtually(t, config, server.w, load*capacity, uint64(seed))
				verdicts[st.Verdict]++
				elapsed += st.WindowFrom + st.Window
			}
			line := fmt.Sprintf("%s at %.0f %%: %v, %.0f s each", server.name, load*100, verdicts, elapsed/float64(seeds))
			t.Log(line)
			wrong := rundir.Stable
			if load < 1 {
				wrong = rundir.Saturated
			}
			if verdicts[wrong]*20 > seeds {
				t.Error(line)
			}
		}
	}
}
