package arrival

import (
	"fmt"
	"math"
	"testing"
)

// TestClientsKeepTheirRate: clients begin in the middle of their gaps, so the rate is that of the load from the start on; and each has its share, and gaps of its
// own shape.
func TestClientsKeepTheirRate(t *testing.T) {
	const rate, until, seeds = 8.0, 50.0, 400
	l := Clients{Rate: rate, Of: []Client{{Number: 1, Share: 0.5, Shape: 0.25}, {Number: 4, Share: 0.3, Shape: 4}, {Number: 20, Share: 0.2, Shape: 1}}}
	if err := l.Validate(); err != nil {
		t.Fatal(err)
	}
	early, late := 0.0, 0.0
	for seed := range uint64(seeds) {
		at := arrivals(l.Schedule(seed, l.Name()), until)
		for _, v := range at {
			if v < until/10 {
				early++
			} else {
				late++
			}
		}
	}
	for name, got := range map[string]float64{"early": early / seeds / (until / 10) / rate, "later": late / seeds / (until * 0.9) / rate} {
		if math.Abs(got-1) > 0.08 { // the bursts of the largest client: three standard errors are 0.07 of a tenth of the time
			t.Errorf("%s: %.3f of the rate", name, got)
		}
	}
	one := Clients{Rate: rate, Of: []Client{{Number: 1, Share: 1, Shape: 0.25}}}
	g := gaps(arrivals(one.Schedule(1, "a"), 5000))
	if cv := variation(g); math.Abs(cv-2) > 0.1 {
		t.Errorf("the gaps of a client vary by %.2f, want 2", cv)
	}
}

func TestClientsAreChecked(t *testing.T) {
	for _, of := range [][]Client{{{1, 0.5, 1}}, {{0, 1, 1}}, {{1, 1, 0}}, {{1, -1, 1}, {1, 2, 1}}, {{mostClients + 1, 1, 1}}, {{1, math.NaN(), 1}}} {
		if (Clients{Rate: 1, Of: of}).Validate() == nil {
			t.Error(fmt.Sprint(of) + " is taken")
		}
	}
}
