package twin

import (
	"slices"
	"testing"

	"llmsweep/client/sim"
	"llmsweep/sweep"
	"llmsweep/sweep/simtest"
)

// TestLatenciesAtOtherLengths fits random servers, whose steps take longer the more tokens are in the cache, and has the twins predict latencies at
// lengths that no stage measured: prompts twice as long and answers half as long, and the reverse, at half and at 80 % of the capacity.
func TestLatenciesAtOtherLengths(t *testing.T) {
	servers := simtest.Evidence(t, 20, 100)
	wanted, held := map[string]int{}, map[string]int{}
	widths := map[string][]float64{} // the high end over the low one
	names := []string{"requests", "output", "TTFT p50", "TTFT p99", "ITL p50", "ITL p99", "ITL mean"}
	for i := range uint64(servers) {
		k := simtest.Random(9000 + i)
		tw, err := Fit(swept(t, k.Server, k.Work.Prompt, k.Work.Output, sweep.FitTime))
		if err != nil {
			t.Errorf("%v: %v", k, err)
			continue
		}
		for _, times := range []asked{{2, 0.5}, {0.5, 2}} {
			w := times.of(k.Work)
			capacity := sim.TruthOf(k.Server, w, 0, 0).Capacity
			for _, load := range []float64{0.5, 0.8} {
				if capacity == 0 || tw.refuses(w.PromptTokens, w.OutputTokens) != "" {
					continue
				}
				d := arrivals(only(w.PromptTokens, w.OutputTokens), load*capacity, 600)
				d.From = d.Requests[100].Sent
				d.Window = d.Requests[len(d.Requests)-1].Sent - d.From
				truth, predicted := d.on(k.Server), d.Predicted(tw)
				low, high := tw.between(&d, predicted)
				for m, v := range truth.values() {
					wanted[names[m]]++
					l, h := *low.values()[m], *high.values()[m]
					widths[names[m]] = append(widths[names[m]], h/l)
					if l <= *v && *v <= h {
						held[names[m]]++
						continue
					}
					t.Logf("%v %v at %.0f %%: %s is %.4g, predicted %.4g (%.4g - %.4g)", k, w, 100*load, names[m], *v, *predicted.values()[m], l, h)
				}
			}
		}
	}
	for _, name := range names {
		slices.Sort(widths[name])
		t.Logf("%s: %d of %d intervals hold; the high end is %.2f times the low one in the median", name, held[name], wanted[name], widths[name][len(widths[name])/2])
		if 10*held[name] < 9*wanted[name] {
			t.Errorf("%s: fewer than nine in ten", name)
		}
	}
}
