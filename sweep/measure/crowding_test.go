package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// arrivals are requests of a count whose arrivals are Poisson, at a rate per second.
func arrivals(rng *rand.Rand, term slo.Term, n int, rate float64) *beyond {
	b := &beyond{term: term}
	at := 0.0
	for range n {
		at += rng.ExpFloat64() / rate
		b.note(&rundir.Record{Due: rundir.Exactly(at)}, 0)
	}
	return b
}

func poisson(rate float64) *rundir.Stage {
	return &rundir.Stage{Kind: "poisson", Rate: rundir.Exactly(rate)}
}

// Crowding is 0 on average, for each of the loads.
func TestCrowdingIsNoneOnAverage(t *testing.T) {
	term, err := slo.Parse("ttft:p90<1s")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	all := make([][]float64, len(slo.Loads()))
	for range 60 {
		for i, v := range arrivals(rng, term, 2000, 5).crowding(poisson(5)) {
			all[i] = append(all[i], v)
		}
	}
	for i, load := range slo.Loads() {
		if load > 0.9 {
			continue // a queue that begins empty takes longer to fill than these stages last
		}
		mean, low, high, _ := stats.BatchMeans(all[i], len(all[i])) // each stage is a batch
		if wide := high - low; low-wide/2 > 0 || high+wide/2 < 0 {
			t.Errorf("load %v: crowding is %.3f (%.3f to %.3f) on average", load, mean, low, high)
		}
	}
}

// Arrivals in bursts are crowded, evenly spaced ones are not, and those that are not independent are not counted.
func TestCrowding(t *testing.T) {
	term, err := slo.Parse("ttft:p90<1s")
	if err != nil {
		t.Fatal(err)
	}
	even, bursts := &beyond{term: term}, &beyond{term: term}
	for i := range 1000 {
		even.note(&rundir.Record{Due: rundir.Exactly(float64(i))}, 0)
		bursts.note(&rundir.Record{Due: rundir.Exactly(200 * math.Floor(float64(i)/200))}, 0)
	}
	for i, load := range slo.Loads() {
		if low, high := even.crowding(poisson(1))[i], bursts.crowding(poisson(1))[i]; !(low < -0.5 && high > 0.5) {
			t.Errorf("load %v: %v for even arrivals, %v for bursts", load, low, high)
		}
	}
	closed := *poisson(1)
	closed.Kind = "concurrent"
	if got := even.crowding(&closed); got != nil {
		t.Errorf("a closed loop: %v", got)
	}
	even.note(&rundir.Record{Due: rundir.Exactly(1000), Turn: 1}, 0)
	if got := even.crowding(poisson(1)); got != nil {
		t.Errorf("a conversation: %v", got)
	}
}
