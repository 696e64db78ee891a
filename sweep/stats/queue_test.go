package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The tail of a simulated queue must be the computed one, for short waits and for long ones.
func TestQueueTail(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, load := range []float64{0.3, 0.6, 0.8} {
		waits := []float64{0, 0.5, 1.5, 3, 7}
		beyond := make([]float64, len(waits))
		const arrivals = 400_000
		work := 0.0
		for range arrivals {
			work = max(0, work-rng.ExpFloat64()/load)
			for i, w := range waits {
				if work > w {
					beyond[i]++
				}
			}
			work++
		}
		for i, w := range waits {
			got, want := queueTail(load, w), beyond[i]/arrivals
			if math.Abs(got-want) > 0.005+0.05*want {
				t.Errorf("load %v: %v of the arrivals wait longer than %v, simulated %v", load, got, w, want)
			}
		}
	}
}

// The two ways to compute the tail must agree where one takes over from the other, and a wait is that of its share.
func TestQueueTailIsSmooth(t *testing.T) {
	for _, load := range []float64{0.05, 0.3, 0.6, 0.8, 0.95, 0.99} {
		short, long := queueTail(load, 6-1e-9), queueTail(load, 6)
		if math.Abs(short-long) > 0.02*long+1e-7 {
			t.Errorf("load %v: %v and %v at 6 service times", load, short, long)
		}
		for _, share := range []float64{0.001, 0.01, 0.1, 0.5} {
			wait := QueueWait(load, share)
			if share > load {
				if wait > 1e-9 {
					t.Errorf("load %v: %v of the arrivals wait longer than %v, but only %v wait", load, share, wait, load)
				}
				continue
			}
			if got := queueTail(load, wait); math.Abs(got-share) > 0.02*share {
				t.Errorf("load %v: %v of the arrivals wait longer than %v, not %v", load, got, wait, share)
			}
		}
	}
}
