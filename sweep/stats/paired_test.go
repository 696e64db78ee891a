package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// The first order has mean 2 and squares 2, the second mean 5 and squares 8.
func TestCrossover(t *testing.T) {
	mean, s, ok := Crossover([]float64{1, 2, 3}, []float64{3, 5, 7})
	if !ok {
		t.Fatal("three differences of each order are too few")
	}
	near(t, "mean", mean, 3.5, 1e-12)
	near(t, "deviation", s.Deviation, math.Sqrt(10.0/4), 1e-12)
	near(t, "degrees of freedom", s.DF, 4, 0)
	near(t, "half", s.Half(6, 0.05), 2.776445*math.Sqrt(2.5/6), 1e-5)
	if _, _, ok := Crossover([]float64{1, 2}, []float64{1}); ok {
		t.Error("a single difference has a spread")
	}
}

// Student's own table: t = 2.262 and 3.250 at 9 degrees of freedom.
func TestP(t *testing.T) {
	s := Spread{2, 9}
	near(t, "P", s.P(2.262157*2/math.Sqrt(10), 10), 0.05, 1e-6)
	near(t, "P", s.P(-3.249836*2/math.Sqrt(10), 10), 0.01, 1e-6)
	near(t, "P of nothing", s.P(0, 10), 1, 0)
	near(t, "P without spread", Spread{0, 9}.P(1, 10), 0, 0)
	near(t, "P of nothing without spread", Spread{0, 9}.P(0, 10), 1, 0)
}

// t(0.975, 8) = 2.306004 and t(0.8, 8) = 0.888890.
func TestNeeded(t *testing.T) {
	s := Spread{0.04, 8}
	near(t, "needed", s.Needed(0.03, 0.05, 0.8), math.Ceil(math.Pow(0.04*(2.306004+0.888890)/0.03, 2)), 0)
	big := Spread{1, 1e7}
	near(t, "needed of a known spread", big.Needed(0.5, 0.05, 0.8), 32, 0) // (1.96+0.84)^2/0.25 = 31.4: the textbooks' 32
}

// Stein's procedure keeps level and power for any true spread, which is not known before.
func TestSteinKeepsLevelAndPower(t *testing.T) {
	const first, delta, level, power, runs = 5, 0.03, 0.05, 0.8, 1500
	rng := rand.New(rand.NewPCG(3, 4))
	for _, sigma := range []float64{0.02, 0.04, 0.08} {
		shown := func(truth float64) float64 {
			n := 0
			for range runs {
				var d [2][]float64
				draw := func(k int) {
					for range k {
						for order := range d {
							d[order] = append(d[order], truth+sigma*rng.NormFloat64())
						}
					}
				}
				draw(first)
				_, s, _ := Crossover(d[0], d[1])
				pairs := int(math.Ceil(s.Needed(delta, level, power) / 2))
				draw(max(0, pairs-first))
				mean, _, _ := Crossover(d[0], d[1])
				if s.P(mean, len(d[0])+len(d[1])) < level {
					n++
				}
			}
			return float64(n) / runs
		}
		if wrong := shown(0); wrong > level+0.015 {
			t.Errorf("spread %v: nothing is taken for something in %.3f of runs", sigma, wrong)
		}
		if found := shown(delta); found < power-0.025 {
			t.Errorf("spread %v: the difference is found in %.3f of runs", sigma, found)
		}
	}
}

// Of four, the least must be at most 0.05/4, the next 0.05/3, and so on; what follows one that is not is not looked at.
func TestHolm(t *testing.T) {
	for _, c := range []struct {
		p    []float64
		want []bool
	}{
		{[]float64{0.04, 0.01, 0.02, 0.03}, []bool{false, true, false, false}}, // 0.01 <= 0.05/4, but 0.02 > 0.05/3
		{[]float64{0.04, 0.01, 0.016, 0.02}, []bool{true, true, true, true}},
		{[]float64{0.03, 0.03}, []bool{false, false}}, // 0.03 > 0.025
		{[]float64{0.045, 0.008}, []bool{true, true}}, // 0.008 <= 0.025, then 0.045 <= 0.05
		{[]float64{0.045, 0.02}, []bool{true, true}},
		{[]float64{0.055, 0.02}, []bool{false, true}}, // 0.055 > 0.05
		{[]float64{0.0001, 1, 0.011}, []bool{true, false, true}},
		{nil, []bool{}},
	} {
		if got := Holm(c.p, 0.05); !slices.Equal(got, c.want) {
			t.Errorf("Holm(%v) = %v, want %v", c.p, got, c.want)
		}
	}
}
