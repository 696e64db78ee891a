package sweep

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"llmsweep/sweep/rundir"
)

// Verdicts well below and well above capacity must be right, or honestly undecided. LLMSWEEP_SEEDS=200 is the long way.
func TestVerdicts(t *testing.T) {
	seeds := 2
	if n, err := strconv.Atoi(os.Getenv("LLMSWEEP_SEEDS")); err == nil {
		seeds = n
	}
	for _, server := range []struct {
		name string
		w    fixed
	}{{"Qwen2-7B/L20/fp16", fixed{512, 128}}, {"Qwen2-7B/A100 80GB/int4", fixed{256, 64}}, {"demo", fixed{64, 16}}} {
		config := preset(t, server.name)
		capacity := server.w.capacity(config).RequestsPerSecond
		for _, load := range []float64{0.3, 0.5, 0.8, 0.9, 1.1, 1.2} {
			verdicts := map[string]int{}
			elapsed := 0.0
			for seed := range seeds {
				var st rundir.Stage
				virtually(t, config, func(t *testing.T, d Doer) {
					c := experimentWith(d, server.w)
					c.Seed = uint64(seed)
					st = oneStage(t, c, func(x *experiment) *Spec { return x.open(load*capacity, rundir.Grid) })
				})
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
