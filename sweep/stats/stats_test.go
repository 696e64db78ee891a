package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	moststats "github.com/montanaflynn/stats"
	"pgregory.net/rapid"
)

func TestQuantileIsNumPys(t *testing.T) {
	if got := Quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("%v of nothing, want NaN", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 60).Draw(t, "x")
		p := rapid.Float64Range(0.001, 1).Draw(t, "p")
		want, err := moststats.Percentile(x, p*100)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(x)
		if got := Quantile(x, p); math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
			t.Fatalf("Quantile(%v, %v) = %v, want %v", x, p, got, want)
		}
	})
}

// TestStudentQuantile has values from printed tables.
func TestStudentQuantile(t *testing.T) {
	for _, c := range []struct{ p, df, want float64 }{
		{0.975, 1, 12.7062}, {0.975, 2, 4.30265}, {0.975, 5, 2.57058}, {0.95, 10, 1.81246},
		{0.995, 30, 2.75000}, {0.975, 1e6, 1.95997}, {0.9995, 3, 12.9240}, {0.9999, 1, 3183.0988}, {0.5, 4, 0},
		{0.025, 5, -2.57058},
	} {
		if got := StudentQuantile(c.p, c.df); math.Abs(got-c.want) > 1e-4*math.Max(1, math.Abs(c.want)) {
			t.Errorf("StudentQuantile(%v, %v) = %.5f, want %.5f", c.p, c.df, got, c.want)
		}
	}
}

// ar1 is a series whose neighbours correlate by r, with unit variance about mean.
func ar1(rng *rand.Rand, n int, r, mean float64) []float64 {
	x := make([]float64, n)
	v := rng.NormFloat64()
	for i := range x {
		x[i] = mean + v
		v = r*v + math.Sqrt(1-r*r)*rng.NormFloat64()
	}
	return x
}

func TestEffectiveN(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, r := range []float64{0, 0.5, 0.9} {
		const n = 20000
		got, want := EffectiveN(ar1(rng, n, r, 3)), n*(1-r)/(1+r)
		if math.Abs(got/want-1) > 0.15 {
			t.Errorf("correlation %v: %d values are worth %.0f, want about %.0f", r, n, got, want)
		}
	}
	if got := EffectiveN(make([]float64, 50)); got != 50 {
		t.Errorf("a constant series is worth %v of its 50", got)
	}
}

// coverage returns the share of a thousand seeded trials in which an interval covers the truth.
func coverage(trial func(*rand.Rand) bool) float64 {
	hits := 0
	for seed := range uint64(1000) {
		if trial(rand.New(rand.NewPCG(seed, 7))) {
			hits++
		}
	}
	return float64(hits) / 1000
}

func TestIntervalsCover(t *testing.T) {
	for name, c := range map[string]struct {
		trial    func(*rand.Rand) bool
		low, top float64
	}{
		"median of independent values": {func(rng *rand.Rand) bool {
			x := ar1(rng, 200, 0, 0)
			slices.Sort(x)
			low, high, ok := QuantileInterval(Sorted(x), nil, 0.5, 200)
			return ok && low <= 0 && 0 <= high
		}, 0.93, 0.97},
		"p95 of correlated values": {func(rng *rand.Rand) bool {
			x := ar1(rng, 1000, 0.6, 0)
			low, high, ok := QuantileInterval(Sorted(slices.Sorted(slices.Values(x))), x, 0.95, EffectiveN(x))
			return ok && low <= 1.6449 && 1.6449 <= high
		}, 0.93, 1},
		"mean by batches": {func(rng *rand.Rand) bool {
			_, low, high, ok := BatchMeans(ar1(rng, 2000, 0.7, 5), 20)
			return ok && low <= 5 && 5 <= high
		}, 0.92, 0.97},
		"slope of a correlated series without one": {func(rng *rand.Rand) bool {
			trend, ok := FitTrend(ar1(rng, 40, 0.5, 5))
			low, high := trend.Bounds(0.025)
			return ok && low <= 0 && 0 <= high
		}, 0.92, 0.99},
	} {
		if got := coverage(c.trial); got < c.low || got > c.top {
			t.Errorf("%s: 95 %% intervals cover in %.1f %%", name, got*100)
		}
	}
}

func TestFitTrendFindsASlope(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	y := ar1(rng, 60, 0.5, 10)
	for i := range y {
		y[i] += 0.5 * float64(i)
	}
	trend, ok := FitTrend(y)
	low, high := trend.Bounds(0.01)
	if !ok || low <= 0.3 || high >= 0.7 {
		t.Errorf("slope %.3f in [%.3f, %.3f], want 0.5", trend.Slope, low, high)
	}
	if flat, ok := FitTrend(make([]float64, 20)); !ok || flat.Slope != 0 {
		t.Errorf("a constant series: %+v, %v", flat, ok)
	}
}

func TestMSER5(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x := ar1(rng, 400, 0.3, 100)
	for i := range 60 { // a ramp from nothing
		x[i] *= float64(i) / 60
	}
	cut, ok := MSER5(x)
	if !ok || cut < 40 || cut > 90 {
		t.Errorf("a ramp of 60 is cut at %d, %v", cut, ok)
	}
	for i := range x { // a ramp all the way
		x[i] = float64(i)
	}
	if _, ok := MSER5(x); ok {
		t.Error("a series that never settles has a steady window")
	}
	if cut, ok := MSER5(slices.Repeat([]float64{4}, 100)); cut != 0 || !ok {
		t.Errorf("a constant series is cut at %d, %v", cut, ok)
	}
}

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
