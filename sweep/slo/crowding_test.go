package slo

import (
	"math"
	"testing"

	"llmsweep/sweep/rundir"
)

// crowdedRow is a stage at a rate with a share of its 1000 requests beyond the limit, and how crowded they came at all loads.
func crowdedRow(term Term, rate, share, crowding float64) *rundir.Stage {
	b := &rundir.Beyond{Count: int(1000 * share), Of: 1000, Neff: rundir.Exactly(300)}
	for range Loads() {
		b.Crowding = append(b.Crowding, crowding)
	}
	return &rundir.Stage{
		Name: "poisson", Kind: "poisson", Rate: rundir.Exactly(rate), Verdict: rundir.Stable,
		Goodput: &rundir.Goodput{Terms: []rundir.Promise{{Term: term.String(), Beyond: b}}},
	}
}

// Rows with more requests beyond the limit than their neighbours, and as much more crowding, do not lower the rate that meets the term.
func TestCrowdedRowsCountForLess(t *testing.T) {
	term, err := Parse("ttft:p90<1s")
	if err != nil {
		t.Fatal(err)
	}
	at := func(crowding float64) float64 {
		var rows []*rundir.Stage
		for i, rate := range []float64{8, 8.5, 9, 9.5, 10, 10.5, 11, 11.5, 12} {
			share, crowded := 0.1*math.Exp(0.5*(rate-10)), 0.0
			if i%3 == 1 { // 8.5, 10 and 11.5 had bad luck
				share, crowded = 1.6*share, crowding
			}
			rows = append(rows, crowdedRow(term, rate, share, crowded))
		}
		return Highest(rows, &rundir.Saturation{Rate: rundir.Exactly(15), High: rundir.Exactly(16)}, []Term{term}).Rate.Value()
	}
	plain, told := at(0), at(0.6/0.9) // log-odds, to first order
	if math.Abs(told-10) > 0.15 || math.Abs(plain-10) < 2*math.Abs(told-10) {
		t.Errorf("10 req/s meet the term: found %.2f by the shares alone, %.2f with crowding taken off", plain, told)
	}
}

func TestCrowdingIsReadAtTheLoad(t *testing.T) {
	term, err := Parse("ttft:p90<1s")
	if err != nil {
		t.Fatal(err)
	}
	s := crowdedRow(term, 6, 0.1, 0)
	for i, load := range Loads() {
		s.Goodput.Terms[0].Beyond.Crowding[i] = 10 * load
	}
	for _, c := range []struct{ saturates, want float64 }{{60, 3}, {12, 5}, {8, 7.5}, {6, 9.7}, {5, 9.7}, {math.NaN(), 0}} {
		if got := term.crowding(s, c.saturates); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("6 req/s at a server that saturates at %v: %v, want %v", c.saturates, got, c.want)
		}
	}
	if s.Verdict = rundir.Saturated; term.crowding(s, 12) != 0 {
		t.Error("a growing backlog does not come from crowds")
	}
}
