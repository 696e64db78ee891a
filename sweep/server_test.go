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
		{"demo", demoWork}}
	for _, server := range servers[:simtest.SampleSize(1, len(servers))] {
		config := simtest.Preset(t, server.name)
		capacity := server.w.Capacity(config).RequestsPerSecond
		for _, share := range []float64{0.3, 0.5, 0.8, 0.9, 1.1, 1.2} {
			verdicts := map[rundir.Verdict]int{}
			for seed := range seeds {
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
					st, err := x.Measure(t.Context(), hold)
					if err != nil {
						t.Fatal(err)
					}
					verdicts[st.Verdict]++
				})
			}
			what, wrong := fmt.Sprintf("verdicts on %s at %.0f %% of its capacity", server.name, share*100), rundir.Stable
			simtest.Claim(t, what, "at most 5 % wrong", "%v of %d", verdicts, seeds)
			if share < 1 {
				wrong = rundir.Saturated
			}
			if verdicts[wrong]*20 > seeds {
				t.Errorf("%s: %v", what, verdicts)
			}
		}
	}
}
