package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The habits of noise between runs.
const (
	evenNoise   = iota
	heavyNoise  // Student's t with 3 degrees of freedom
	weeklyNoise // half of the variance is a rhythm of seven nights
)

// noise returns n nights of one series, with a standard deviation of sigma.
func noise(rng *rand.Rand, n int, sigma float64, habit int) []float64 {
	y := make([]float64, n)
	phase := rng.Float64() * 7
	for i := range y {
		z := rng.NormFloat64()
		switch habit {
		case heavyNoise:
			chi := 0.0
			for range 3 {
				v := rng.NormFloat64()
				chi += v * v
			}
			z /= math.Sqrt(chi)
		case weeklyNoise:
			z = math.Sqrt(0.5)*z + math.Sin(2*math.Pi*(float64(i)+phase)/7)
		}
		y[i] = sigma * z
	}
	return y
}

// The histories: 40 series of 120 nights, even, heavy-tailed and weekly.
const (
	manySeries = 40
	manyNights = 120
	changesAt  = 60
)

// histories draws the series of n histories with an effect. It returns the share in which a change is found within some
// nights after it, and the number of all alarms in a hundred nights.
func histories(n int, spread func(*rand.Rand) float64, effect func(night int) float64, within int) (share,
	alarms float64) {
	for i := range n * manySeries {
		rng := rand.New(rand.NewPCG(uint64(i), 28))
		habit := []int{evenNoise, evenNoise, evenNoise, heavyNoise, weeklyNoise}[i%5]
		y := noise(rng, manyNights, spread(rng), habit)
		for night := changesAt; night < manyNights; night++ {
			y[night] += effect(night - changesAt)
		}
		all, _ := Changes(y, 0.01/manySeries)
		alarms += float64(len(all))
		if slices.ContainsFunc(all, func(c Change) bool { return c.Found >= changesAt && c.Found < changesAt+within }) {
			share++
		}
	}
	return share / float64(n*manySeries), alarms / float64(n*manyNights) * 100
}

func TestHistories(t *testing.T) {
	const n = 3
	anySpread := func(rng *rand.Rand) float64 { return 0.01 + 0.04*rng.Float64() }
	none := func(int) float64 { return 0 }
	if _, alarms := histories(n, anySpread, none, 0); alarms > 1+2*math.Sqrt(100/float64(n*manyNights)) {
		t.Errorf("%.2f false alarms in 100 nights of all series, want 1 at most", alarms)
	}
	step := func(int) float64 { return 0.05 }
	drift := func(night int) float64 { return 0.01 * float64(night+1) / 7 }
	for _, c := range []struct {
		name   string
		spread float64
		effect func(int) float64
		within int
		least  float64
	}{
		{"a step of 5 %", 0.01, step, 3, 0.8},
		{"a step of 5 %", 0.02, step, 10, 0.95},
		{"a drift of 1 % a week", 0.03, drift, 56, 0.97},
	} {
		found, _ := histories(1, func(*rand.Rand) float64 { return c.spread }, c.effect, c.within)
		if found < c.least {
			t.Errorf("%s at a spread of %v is found within %d nights in %v", c.name, c.spread, c.within, found)
		}
	}
}

// A step has the place, the size and the interval that it was made with, and a step back is another.
func TestChangesAreSized(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 28))
	y := noise(rng, 90, 0.01, evenNoise)
	for i := 40; i < 70; i++ {
		y[i] += 0.06
	}
	all, spread := Changes(y, 1e-4)
	if len(all) != 2 || all[0].At != 40 || all[1].At != 70 || all[0].Drift || all[1].Drift {
		t.Fatalf("%+v", all)
	}
	if c := all[0]; c.Low > 0.06 || c.High < 0.06 || c.High-c.Low > 0.02 {
		t.Errorf("%+v", c)
	}
	if spread.Deviation < 0.008 || spread.Deviation > 0.012 {
		t.Errorf("spread %+v", spread)
	}
}

func TestNoChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 28))
	y := noise(rng, 60, 0.01, evenNoise)
	y[50] += 0.5
	if all, _ := Changes(y, 1e-3); len(all) > 0 {
		t.Errorf("outlier: %+v", all)
	}
	if all, _ := Changes(make([]float64, 30), 1e-3); len(all) > 0 {
		t.Errorf("equal values: %+v", all)
	}
}
