package measure

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"llmsweep/sweep/rundir"
)

// busyUntil gives passed attempts an end that is some service time later.
func busyUntil(all []attempt, service float64) []attempt {
	for i := range all {
		if all[i].passed {
			all[i].end += service
		}
	}
	return all
}

// A queue of limited length explains its own refusals better than any token bucket does, and those of a bucket worse.
func TestFullQueuesAreToldFromBuckets(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 5))
		rate, places := 2+8*rng.Float64(), 4+rng.IntN(12)
		service := float64(places) / rate
		busy := make([]float64, places) // until when
		shed := busyUntil(attemptsAt(rng, rate*(1.1+rng.Float64()), 100, func(at, _ float64) bool {
			for i := range busy {
				if busy[i] <= at {
					busy[i] = at + service
					return true
				}
			}
			return false
		}), service)
		full, met := findFull(shed)
		if bucket := findBucket(shed); full.Value() != 1 || met.Value() != float64(places) || bucket.Agrees.Value() >= full.Value() {
			t.Errorf("seed %d: a queue of %d places explains %.3f at %v, a bucket %.3f", seed, places, full.Value(), met.Value(), bucket.Agrees.Value())
		}
		level, last := 3.0, 0.0
		limited := busyUntil(attemptsAt(rng, rate*(1.2+rng.Float64()), 100, func(at, _ float64) bool {
			if level, last = min(3, level+rate*(at-last)), at; level < 1 {
				return false
			}
			level--
			return true
		}), service)
		full, _ = findFull(limited)
		if bucket := findBucket(limited); bucket.Agrees.Value() < 0.97 || full.Value() >= bucket.Agrees.Value() {
			t.Errorf("seed %d: a full queue explains %.3f of a bucket's refusals, a bucket %.3f", seed, full.Value(), bucket.Agrees.Value())
		}
	}
	if full, _ := findFull([]attempt{{at: 1, passed: true}}); full.Known() {
		t.Error("a queue explains refusals that there are not")
	}
}

// The rate of a bucket that holds a single request is known to a few per cent: what passes is as far apart as its rate says.
func TestTinyBucketsAreFound(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 7))
		rate := 2 + 8*rng.Float64()
		level, last := 1.0, 0.0
		b := findBucket(attemptsAt(rng, rate*(1.2+rng.Float64()), 60, func(at, _ float64) bool {
			if level, last = min(1, level+rate*(at-last)), at; level < 1 {
				return false
			}
			level--
			return true
		}))
		if b.Unit != perRequest || math.Abs(b.Rate.Value()/rate-1) > 0.05 || b.Low.Value() > rate*1.005 || b.High.Value() < rate*0.995 {
			t.Errorf("seed %d: %+v, want %.3f requests per second", seed, b, rate)
		}
	}
}

// Of a server with a cache, the answers from it are counted in the window, and the time per token is that of the others.
func TestAnswersFromACacheAreKeptApart(t *testing.T) {
	var f habitFinder
	for i := range 20 {
		from := float64(i) * 0.5
		f.Add(tokensAt(from, steady(from+0.1, 0.01, 60, math.Inf(1), 0)...))
		f.Add(tokensAt(from, steady(from+0.005, 0, 60, math.Inf(1), 0)...))
	}
	got := f.Sum(Window{From: 2 * time.Second, To: 6 * time.Second})
	if want := rundir.Exactly(2); math.Abs(got.WholeRate.Value()-want.Value()) > 1e-9 || math.Abs(got.Computed.Value()-0.01) > 1e-6 {
		t.Errorf("%v answers per second from the cache, %v s per token of the others", got.WholeRate.Value(), got.Computed.Value())
	}
}

// A buffer sends a short answer in one piece: that does not come from a cache. A long one in one piece does.
func TestShortAnswersOfABufferAreNotFromACache(t *testing.T) {
	inBursts := func(from float64, n int) (at []float64) {
		for k := range n {
			at = append(at, from+0.5*float64(k/8))
		}
		return at
	}
	var buffered, both habitFinder
	for i := range 20 {
		at := 3 * float64(i)
		for _, f := range []*habitFinder{&buffered, &both} {
			f.Add(tokensAt(at, inBursts(at+0.6, 60)...))
			f.Add(tokensAt(at, inBursts(at+0.2, 6)...))
		}
		both.Add(tokensAt(at, steady(at+0.005, 0, 60, math.Inf(1), 0)...))
	}
	if got := buffered.Sum(Window{To: time.Hour}); !got.Bursts.Known() || got.Whole.Known() || got.WholeRate.Known() {
		t.Errorf("a buffer: %+v", got)
	}
	if got := both.Sum(Window{To: time.Hour}); !got.Bursts.Known() || !got.Whole.Known() {
		t.Errorf("a buffer and a cache: %+v", got)
	}
}
