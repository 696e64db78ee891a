package measure

import (
	"math/rand/v2"
	"testing"
	"time"

	"llmsweep/sweep/rundir"
)

// TestWaitsOfAPart: the longest waits grow where one replica of five gets more than it serves, and not where a single queue is long.
func TestWaitsOfAPart(t *testing.T) {
	const rate, seconds = 20.0, 180.0
	for name, c := range map[string]struct {
		service [5]float64 // seconds a request, of each replica; one at a time, requests in turns
		grows   bool
	}{
		"one slow replica": {[5]float64{0.2, 0.2, 0.2, 0.2, 0.3}, true}, // each gets 4 a second
		"all alike":        {[5]float64{0.2, 0.2, 0.2, 0.2, 0.2}, false},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		var w waits
		var free [5]float64
		for i, at := 0, 0.0; at < seconds; i++ {
			at += rng.ExpFloat64() / rate
			r := &free[i%5]
			wait := max(0, *r-at)
			*r = at + wait + c.service[i%5]
			w.add(&rundir.Record{Due: rundir.Exactly(at), FirstToken: rundir.Exactly(at + wait)})
		}
		in := Window{To: seconds * time.Second}
		g := w.growth(in, w.spans(in, 300*time.Millisecond))
		if grows := g.Low.Value() > 0.05; grows != c.grows || !g.Low.Known() {
			t.Errorf("%s: waits grow by %.3f (%.3f-%.3f) s a second", name, g.Value.Value(), g.Low.Value(), g.High.Value())
		}
		if p := outgrown(rate, g, 30); c.grows && (p.Low.Value() > 5/0.3 || p.High.Value() < 5/0.3) {
			t.Errorf("%s: sustains %.2f (%.2f-%.2f), computed %.2f", name, p.Rate.Value(), p.Low.Value(), p.High.Value(), 5/0.3)
		}
	}
	if g := (&waits{}).growth(Window{To: time.Minute}, 0); g.Low.Known() {
		t.Errorf("nothing was measured, and waits grow by %v", g)
	}
}
