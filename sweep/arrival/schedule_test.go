package arrival

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// arrivals are the due instants of a schedule's first seconds.
func arrivals(s Schedule, until float64) []float64 {
	var at []float64
	for {
		due, ok := s.Next()
		if !ok || due.Seconds() > until {
			return at
		}
		at = append(at, due.Seconds())
	}
}

func gaps(at []float64) []float64 {
	out := make([]float64, len(at)-1)
	for i := range out {
		out[i] = at[i+1] - at[i]
	}
	return out
}

// Over a thousand seeds each test at level 5 % must reject about fifty times, give or take three standard deviations of
// seven.
func TestPoissonIsPoisson(t *testing.T) {
	const seeds, rate, until = 1000, 10.0, 200.0
	rejected := map[string]int{}
	for seed := range uint64(seeds) {
		at := arrivals(Poisson{Rate: rate}.Schedule(seed, "poisson@10.00"), until)
		if ks := kolmogorovSmirnov(gaps(at), func(x float64) float64 { return 1 - math.Exp(-rate*x) }); ks < 0.05 {
			rejected["exponential gaps (Kolmogorov-Smirnov)"]++
		}
		if z := dispersion(at, until); math.Abs(z) > 1.96 {
			rejected["variance/mean of one-second counts"]++
		}
		g := gaps(at)
		if r := correlation(g); math.Abs(r)*math.Sqrt(float64(len(g))) > 1.96 {
			rejected["lag-1 correlation of gaps"]++
		}
	}
	for _, test := range []string{"exponential gaps (Kolmogorov-Smirnov)", "variance/mean of one-second counts",
		"lag-1 correlation of gaps"} {
		t.Logf("%s: rejected %d of %d", test, rejected[test], seeds)
		if rejected[test] > 71 || rejected[test] < 29 {
			t.Errorf("%s rejects %d of %d seeds at level 5 %%", test, rejected[test], seeds)
		}
	}
}

// kolmogorovSmirnov is the p-value of the one-sample test, by the asymptotic series (Marsaglia, Tsang and Wang 2003
// call it good for n > 35).
func kolmogorovSmirnov(x []float64, cdf func(float64) float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n, d := float64(len(x)), 0.0
	for i, v := range x {
		f := cdf(v)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	k := (math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n)) * d
	p := 0.0
	for j := 1.0; j <= 100; j++ {
		p += 2 * math.Pow(-1, j-1) * math.Exp(-2*j*j*k*k)
	}
	return p
}

// dispersion is how many standard deviations the variance/mean of one-second counts is from 1.
func dispersion(at []float64, until float64) float64 {
	counts := make([]float64, int(until))
	for _, a := range at {
		if int(a) < len(counts) {
			counts[int(a)]++
		}
	}
	n, mean, sum := float64(len(counts)), 0.0, 0.0
	for _, c := range counts {
		mean += c / n
	}
	for _, c := range counts {
		sum += (c - mean) * (c - mean)
	}
	return (sum/(n-1)/mean - 1) / math.Sqrt(2/(n-1))
}

func correlation(x []float64) float64 {
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	var num, den float64
	for i, v := range x {
		den += (v - mean) * (v - mean)
		if i > 0 {
			num += (v - mean) * (x[i-1] - mean)
		}
	}
	return num / den
}

func TestStagesShareNoGaps(t *testing.T) {
	a := gaps(arrivals(Poisson{Rate: 10}.Schedule(1, "poisson@10.00"), 60))
	again := gaps(arrivals(Poisson{Rate: 10}.Schedule(1, "poisson@10.00"), 60))
	if !slices.Equal(a, again) {
		t.Error("the same seed and stage do not repeat their gaps")
	}
	seen := map[string]bool{}
	for _, g := range a {
		seen[fmt.Sprintf("%.9f", g)] = true
	}
	// The same rate under another name, another rate's gaps brought to this rate's scale, and another seed.
	for name, b := range map[string][]float64{
		"another stage": gaps(arrivals(Poisson{Rate: 10}.Schedule(1, "poisson@10.01"), 60)),
		"another rate":  gaps(arrivals(Poisson{Rate: 20}.Schedule(1, "poisson@20.00"), 60)),
		"another seed":  gaps(arrivals(Poisson{Rate: 10}.Schedule(2, "poisson@10.00"), 60)),
	} {
		scale := 1.0
		if name == "another rate" {
			scale = 2
		}
		shared := 0
		for _, g := range b {
			if seen[fmt.Sprintf("%.9f", g*scale)] {
				shared++
			}
		}
		if shared > 1 {
			t.Errorf("%s shares %d of %d gaps", name, shared, len(b))
		}
	}
}

func TestConstantNeverDrifts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.01, 5000).Draw(t, "rate")
		n := rapid.IntRange(1, 2000).Draw(t, "n")
		s := Constant{Rate: rate}.Schedule(0, "")
		var due time.Duration
		for range n + 1 {
			due, _ = s.Next()
		}
		if want := float64(n) / rate; math.Abs(due.Seconds()-want) > 2e-9+1e-12*want {
			t.Fatalf("request %d at %v/s is due at %v s, want %v s", n, rate, due.Seconds(), want)
		}
	})
}
