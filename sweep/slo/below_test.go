package slo

import (
	"math"
	"testing"

	"llmsweep/sweep/rundir"
)

// TestTheIntervalEndsAtSaturation: neither the rate nor its interval lies above the saturation rate's interval, nor
// above a stage that misses the term beyond doubt.
func TestTheIntervalEndsAtSaturation(t *testing.T) {
	limits := terms(t, "ttft:p90<1s") // kept up to 7.7 requests per second
	few := append(rows(300, 5, 6), rows(60, 7.2, 7.4, 7.6, 7.8, 8)...)
	free := Highest(few, nil, limits)
	if !free.Rate.Known() || !(free.High.Value() > 7.9) {
		t.Fatalf("%+v: the interval is meant to be wide", free)
	}
	for _, limit := range []*rundir.Saturation{
		{Rate: rundir.Exactly(7.85), Low: rundir.Exactly(7.8), High: rundir.Exactly(7.9)},
		{Low: rundir.Exactly(5), High: rundir.Exactly(7.1)}, // bounds alone
	} {
		s := Highest(few, limit, limits)
		if s.High.Value() > limit.High.Value() || s.Rate.Value() > limit.High.Value() || !(s.Low.Value() <= s.Rate.Value()) {
			t.Errorf("saturated at %v to %v: %v (%v to %v)", limit.Low, limit.High, s.Rate.Value(), s.Low.Value(),
				s.High.Value())
		}
	}
	missed := waits(9.9, 3000)
	missed.Rates.Offered = rundir.Exactly(7.83) // what arrived counts, and not what was planned
	if s := Highest(append(few, missed), nil, limits); s.High.Value() > 7.83+1e-9 {
		t.Errorf("the interval ends at %v, above a stage at 7.83 that misses it", s.High.Value())
	}
}

// TestRatesAreThoseOffered: a stage that was planned at one rate and offered another tells of the latter.
func TestRatesAreThoseOffered(t *testing.T) {
	limits := terms(t, "ttft:p90<1s")
	all := rows(3000, 6, 6.5, 7)
	for _, st := range all {
		st.Rate, st.Rates.Offered = rundir.Exactly(2*st.Rate.Value()), st.Rate
	}
	if s := Highest(all, nil, limits); !s.Rate.Bound() || math.Abs(s.Rate.Value()-7) > 1e-9 || s.Limiting != "" {
		t.Errorf("all stages up to 7 offered keep it: %+v", s)
	}
}
