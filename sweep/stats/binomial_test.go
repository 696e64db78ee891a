package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestShareBounds(t *testing.T) {
	for _, c := range []struct{ k, n, low, high float64 }{
		{0, 600, 0, 1 - math.Pow(0.05, 1.0/600)}, // the rule of three
		{600, 600, math.Pow(0.05, 1.0/600), 1},
		{1, 2, 1 - math.Sqrt(0.95), math.Sqrt(0.95)},
		{10, 100, 0.05526, 0.16371}, // Clopper-Pearson, 90 % two-sided
	} {
		low, high := ShareBounds(c.k, c.n, 0.05)
		if math.Abs(low-c.low) > 1e-4 || math.Abs(high-c.high) > 1e-4 {
			t.Errorf("%v of %v: %v to %v, want %v to %v", c.k, c.n, low, high, c.low, c.high)
		}
	}
}

// A limit far out cuts a correlated series into clusters: what they are worth is the number of clusters.
func TestEffectiveShareN(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 20000
	independent, clustered := make([]float64, n), make([]float64, n)
	for i := range n {
		independent[i] = rng.ExpFloat64()
		clustered[i] = rng.ExpFloat64()
		if i%5 > 0 {
			clustered[i] = clustered[i-i%5]
		}
	}
	limit := math.Log(50) // 2 % are beyond it
	if got := EffectiveShareN(independent, limit, 10); got < 0.8*n {
		t.Errorf("%v of %d independent values", got, n)
	}
	if got := EffectiveShareN(clustered, limit, 10); got < 0.14*n || got > 0.26*n {
		t.Errorf("%v of %d values in clusters of five", got, n)
	}
	if got := EffectiveShareN(clustered, 1e9, 10); got > 0.5*n { // none is beyond it: the ten largest tell
		t.Errorf("%v of %d values, by the largest", got, n)
	}
}

func TestNeededForShare(t *testing.T) {
	if got := NeededForShare(0.0099, 0.01, 0.05, 100, 1e4); !math.IsInf(got, 1) {
		t.Errorf("%v for a share at the limit", got)
	}
	for _, share := range []float64{0.002, 0.005, 0.02, 0.1} {
		n := NeededForShare(share, 0.01, 0.05, 10, 1e6)
		if low, high := ShareBounds(share*n, n, 0.05); !(high < 0.01 || low > 0.01) {
			t.Errorf("%v with a share of %v leave it open: %v to %v", n, share, low, high)
		}
	}
}
