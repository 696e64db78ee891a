package simtest

import "testing"

// The truths of the lab are right: below them the backlog of long runs does not grow, above them it does. Servers 08
// and 29 have a range. The capacity that the simulator computes, and prints, is the same.
func TestLabTruths(t *testing.T) {
	servers := Lab()
	if !Full() {
		servers = []LabServer{servers[7], servers[11], servers[28]}
	}
	for _, k := range servers {
		const near, grows, computed = 0.06, 0.02, 0.025
		low, high := k.Sustains()
		if below, above := k.Growth((1-near)*low), k.Growth((1+near)*high); below > grows || above < grows {
			t.Errorf("%s, %.4g-%.4g: the backlog grows by %.1f %% below it, and %.1f %% above it", k.Name, low, high, 100*below,
				100*above)
		}
		if c := k.Work.Capacity(k.Server); !c.Preempts && k.Spread == 0 &&
			(c.RequestsPerSecond < (1-computed)*low || c.RequestsPerSecond > (1+computed)*high) {
			t.Errorf("%s, %.4g-%.4g: computed %.4g", k.Name, low, high, c.RequestsPerSecond)
		}
	}
}
