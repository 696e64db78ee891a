package measure

import (
	"math"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// tokensAt is a record of tokens at instants.
func tokensAt(sent float64, at ...float64) *rundir.Record {
	r := &rundir.Record{Status: string(client.StatusOK), Sent: rundir.Exactly(sent), Due: rundir.Exactly(sent),
		FirstToken: rundir.Exactly(at[0]), LastToken: rundir.Exactly(at[len(at)-1]), End: rundir.Exactly(at[len(at)-1])}
	for i := range at[1:] {
		r.GapsUS = append(r.GapsUS, int64(math.Round((at[i+1]-at[i])*1e6)))
	}
	return r
}

// steady returns n instants from one, a step apart, with a pause before those after another instant.
func steady(from, step float64, n int, pauseAt, pause float64) (at []float64) {
	for i := range n {
		t := from + step*float64(i)
		if t > pauseAt {
			t += pause
		}
		at = append(at, t)
	}
	return at
}

func TestTraits(t *testing.T) {
	never := math.Inf(1)
	var plain, pausing, oneStalls, bursty, cached habitFinder
	for i := range 20 {
		from := float64(i) * 0.015
		plain.Add(tokensAt(from-0.1, steady(from, 0.01, 60, never, 0)...))
		pausing.Add(tokensAt(from-0.1, steady(from, 0.01, 60, 0.4, 0.5)...))
		if oneStalls.Add(tokensAt(from-0.1, steady(from, 0.01, 60, never, 0)...)); i == 7 {
			oneStalls.Add(tokensAt(from-0.1, steady(from, 0.01, 60, 0.4, 0.5)...))
		}
		var at []float64
		for k := range 60 {
			at = append(at, from+0.1*float64(k/10))
		}
		bursty.Add(tokensAt(from-0.1, at...))
		if cached.Add(tokensAt(from-0.1, steady(from, 0.01, 60, never, 0)...)); i%4 == 0 {
			cached.Add(tokensAt(from, steady(from+0.005, 0, 60, never, 0)...))
		}
	}
	if got := plain.Sum(Window{To: time.Hour}); got != (rundir.Traits{}) {
		t.Errorf("plain: %+v", got)
	}
	if got := oneStalls.Sum(Window{To: time.Hour}); got.Stalls != 0 {
		t.Errorf("one stream stalls alone: %+v", got)
	}
	if got := pausing.Sum(Window{To: time.Hour}); got.Stalls != 1 || math.Abs(got.StallTime.Value()-0.51) > 0.005 ||
		got.Bursts.Known() || got.Whole.Known() {
		t.Errorf("pausing: %+v", got)
	}
	if got := bursty.Sum(Window{To: time.Hour}); got.Bursts.Value() != 1 || math.Abs(got.Burst.Value()-10) > 0.1 ||
		math.Abs(got.BurstGap.Value()-0.1) > 0.01 || got.Stalls > 0 {
		t.Errorf("in bursts: %+v", got)
	}
	if got := cached.Sum(Window{To: time.Hour}); math.Abs(got.Whole.Value()-0.2) > 0.001 ||
		math.Abs(got.WholeTime.Value()-0.005) > 1e-6 || got.Stalls > 0 {
		t.Errorf("from a cache: %+v", got)
	}
}
