package measure

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// attemptsAt returns Poisson attempts of random cost, for which passes decides.
func attemptsAt(rng *rand.Rand, rate, until float64, passes func(at, cost float64) bool) (all []attempt) {
	for at := rng.ExpFloat64() / rate; at < until; at += rng.ExpFloat64() / rate {
		cost := 50 + 100*rng.Float64()
		all = append(all, attempt{at, at, passes(at, cost), cost})
	}
	return all
}

// A token bucket is found from what it refuses, in requests and in tokens, whatever is offered; a server with few places is no bucket.
func TestBucketsAreFound(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		rate, burst := 2+8*rng.Float64(), float64(1+rng.IntN(30))
		offered := rate * (1.2 + rng.Float64())
		for _, unit := range []string{perRequest, perToken} {
			scale := 1.0
			if unit == perToken {
				scale = 100
			}
			level, last := burst*scale, 0.0
			b := findBucket(attemptsAt(rng, offered, 100, func(at, cost float64) bool {
				level, last = min(burst*scale, level+rate*scale*(at-last)), at
				switch {
				case unit == perRequest && level >= 1:
					level--
				case unit == perToken && level > 0:
					level -= cost
				default:
					return false
				}
				return true
			}))
			if b.Unit != unit || b.Low.Value() > rate*scale*1.01 || b.High.Value() < rate*scale*0.99 || math.Abs(b.Rate.Value()/rate/scale-1) > 0.5 || b.Agrees.Value() < 0.97 || math.Abs(b.Burst.Value()-burst*scale) > 1.5*scale+0.1*burst*scale {
				t.Errorf("seed %d: %+v, want %.3f per second and %.0f of %s", seed, b, rate*scale, burst*scale, unit)
			}
		}
		places := make([]float64, 8) // when each is free
		b := findBucket(attemptsAt(rng, offered, 100, func(at, cost float64) bool {
			for i := range places {
				if places[i] <= at {
					places[i] = at + cost/100*8/rate
					return true
				}
			}
			return false
		}))
		if b.Agrees.Value() >= 0.97 {
			t.Errorf("seed %d: a server with eight places is taken for the bucket %+v", seed, b)
		}
	}
}

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
	if got := pausing.Sum(Window{To: time.Hour}); got.Stalls != 1 || math.Abs(got.StallTime.Value()-0.51) > 0.005 || got.Bursts.Known() || got.Whole.Known() {
		t.Errorf("pausing: %+v", got)
	}
	if got := bursty.Sum(Window{To: time.Hour}); got.Bursts.Value() != 1 || math.Abs(got.Burst.Value()-10) > 0.1 || math.Abs(got.BurstGap.Value()-0.1) > 0.01 || got.Stalls > 0 {
		t.Errorf("in bursts: %+v", got)
	}
	if got := cached.Sum(Window{To: time.Hour}); math.Abs(got.Whole.Value()-0.2) > 0.001 || math.Abs(got.WholeTime.Value()-0.005) > 1e-6 || got.Stalls > 0 {
		t.Errorf("from a cache: %+v", got)
	}
}
