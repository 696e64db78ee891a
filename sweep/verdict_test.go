package sweep

import (
	"fmt"
	"testing"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// Verdicts well below and well above capacity must be right, or honestly undecided.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	seeds := simtest.SampleSize(1, 200)
	servers := []struct {
		name string
		w    simtest.Fixed
	}{{"Qwen2-7B/L20/fp16", simtest.SameInAll(512, 128)}, {"Qwen2-7B/A100 80GB/int4", simtest.SameInAll(256, 64)},
		{"demo", simtest.SameInAll(64, 16)}}
	for _, server := range servers[:simtest.SampleSize(2, len(servers))] {
		config := simtest.Preset(t, server.name)
		capacity := server.w.Capacity(config).RequestsPerSecond
		for _, share := range []float64{0.3, 0.5, 0.8, 0.9, 1.1, 1.2} {
			verdicts := map[rundir.Verdict]int{}
			elapsed := 0.0
			for seed := range seeds {
				var st rundir.Stage
				simtest.Beside(t, config, func(t *testing.T, d load.Doer) {
					c := experimentWith(d, server.w)
					c.Seed = uint64(seed)
					x := fresh(t, c)
					floor, err := x.Measure(t.Context(), x.Closed("synchronous", rundir.Synchronous, 1))
					if err != nil {
						t.Fatal(err)
					}
					p := &plan{Config: &c, run: x.Run(), syncLatency: rundir.Duration(floor.Latency.Mean.Value())}
					hold, _ := p.holdStage(share*capacity, rundir.Hold, 5*c.StageTime, false, holdShares[0])
					if st, err = x.Measure(t.Context(), hold); err != nil {
						t.Fatal(err)
					}
				})
				verdicts[st.Verdict]++
				elapsed += st.WindowFrom + st.Window
			}
			line := fmt.Sprintf("%s at %.0f %%: %v, %.0f s each", server.name, share*100, verdicts, elapsed/float64(seeds))
			simtest.Claim(t, fmt.Sprintf("verdicts on %s at %.0f %% of its capacity", server.name, share*100),
				"at most 5 % wrong", "%v of %d", verdicts, seeds)
			wrong := rundir.Stable
			if share < 1 {
				wrong = rundir.Saturated
			}
			if verdicts[wrong]*20 > seeds {
				t.Error(line)
			}
		}
	}
}
