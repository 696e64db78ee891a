package arrival

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"llmsweep/client/testkit"
)

// Each test at level 5 % must reject about 15 of 300 seeds, give or take three standard deviations of 3.8.
const (
	kindSeeds     = 300
	mostRejected  = 27
	leastRejected = 4
)

func checkRejections(t *testing.T, rejected map[string]int, tests ...string) {
	t.Helper()
	for _, test := range tests {
		t.Logf("%s: rejected %d of %d", test, rejected[test], kindSeeds)
		if n := rejected[test]; n > mostRejected || n < leastRejected {
			t.Errorf("%s rejects %d of %d seeds at level 5 %%", test, n, kindSeeds)
		}
	}
}

func TestGammaIsGamma(t *testing.T) {
	const rate, until = 10.0, 200.0
	for _, shape := range []float64{0.5, 1, 2.5, 10} {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			rejected := map[string]int{}
			var cv float64
			for seed := range uint64(kindSeeds) {
				at := arrivals(Gamma{Rate: rate, Shape: shape}.Schedule(seed, "gamma@10.00"), until)
				g := gaps(at)
				if ks := kolmogorovSmirnov(g, func(x float64) float64 { return incompleteGamma(shape, x*rate*shape) }); ks < 0.05 {
					rejected["gaps (Kolmogorov-Smirnov)"]++
				}
				// The number of renewals in a long time is normal, of variance rate*until*cv^2 (Cox 1962), and about
				// (cv^2-1)/2 above rate*until.
				excess := (1/shape - 1) / 2
				if z := (float64(len(at)) - rate*until - excess) / math.Sqrt(rate*until/shape); math.Abs(z) > 1.96 {
					rejected["mean rate"]++
				}
				if r := correlation(g); math.Abs(r)*math.Sqrt(float64(len(g))) > 1.96 {
					rejected["lag-1 correlation of gaps"]++
				}
				cv += variation(g) / kindSeeds
			}
			checkRejections(t, rejected, "gaps (Kolmogorov-Smirnov)", "mean rate", "lag-1 correlation of gaps")
			if want := 1 / math.Sqrt(shape); math.Abs(cv/want-1) > 0.01 {
				t.Errorf("the coefficient of variation of gaps is %.4f, want %.4f", cv, want)
			}
		})
	}
}

// variation is the coefficient of variation.
func variation(x []float64) float64 {
	var mean, sum float64
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum/float64(len(x)-1)) / mean
}

// incompleteGamma is P(a, x), by its series (Abramowitz and Stegun 6.5.29).
func incompleteGamma(a, x float64) float64 {
	if x <= 0 {
		return 0
	}
	if x > a+60+10*math.Sqrt(a) {
		return 1
	}
	term := 1 / a
	sum := term
	for n := 1.0; term > sum*1e-15; n++ {
		term *= x / (a + n)
		sum += term
	}
	lg, _ := math.Lgamma(a)
	return sum * math.Exp(a*math.Log(x)-x-lg)
}

func TestRampIsPoissonInItsOwnTime(t *testing.T) {
	for _, c := range []struct{ from, to float64 }{{2, 20}, {20, 2}, {0, 15}, {15, 0}, {8, 8}} {
		t.Run(fmt.Sprintf("%v-%v", c.from, c.to), func(t *testing.T) {
			const over = 60.0
			expected := func(at float64) float64 { return c.from*at + (c.to-c.from)/over*at*at/2 }
			rejected := map[string]int{}
			for seed := range uint64(kindSeeds) {
				at := arrivals(Ramp{From: c.from, To: c.to, Over: over * time.Second}.Schedule(seed, "ramp"), math.Inf(1))
				mapped := make([]float64, len(at))
				for i, v := range at {
					mapped[i] = expected(v)
				}
				// Given their number, a Poisson process's arrivals are uniform; and its gaps are exponential.
				if kolmogorovSmirnov(mapped, func(x float64) float64 { return x / expected(over) }) < 0.05 {
					rejected["uniform (Kolmogorov-Smirnov)"]++
				}
				if kolmogorovSmirnov(gaps(mapped), func(x float64) float64 { return 1 - math.Exp(-x) }) < 0.05 {
					rejected["exponential gaps (Kolmogorov-Smirnov)"]++
				}
				for _, part := range []float64{0.5, 1} {
					n, _ := slices.BinarySearch(at, part*over)
					want := expected(part * over)
					if z := (float64(n) - want) / math.Sqrt(want); math.Abs(z) > 1.96 {
						rejected[fmt.Sprintf("count by %v of it", part)]++
					}
				}
			}
			checkRejections(t, rejected, "uniform (Kolmogorov-Smirnov)", "exponential gaps (Kolmogorov-Smirnov)",
				"count by 0.5 of it", "count by 1 of it")
		})
	}
}

func TestSchedulesNeverGoBackAndRepeat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(0.001, 5000).Draw(t, "rate")
		to := rapid.Float64Range(0, 5000).Draw(t, "to")
		shape := math.Exp(rapid.Float64Range(math.Log(minShape), math.Log(1e4)).Draw(t, "log shape"))
		over := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "over"))
		seed := rapid.Uint64().Draw(t, "seed")
		for name, a := range map[string]Load{
			"poisson": Poisson{Rate: rate}, "constant": Constant{Rate: rate},
			"gamma": Gamma{Rate: rate, Shape: shape}, "ramp": Ramp{From: rate, To: to, Over: over},
		} {
			first, second := first(t, a, seed), first(t, a, seed)
			if !slices.Equal(first, second) {
				t.Fatalf("%s does not repeat itself", name)
			}
			if !slices.IsSorted(first) || len(first) > 0 && first[0] < 0 {
				t.Fatalf("%s goes back: %v", name, first)
			}
			if name == "ramp" && len(first) > 0 && first[len(first)-1] > over {
				t.Fatalf("a ramp over %v goes on until %v", over, first[len(first)-1])
			}
		}
	})
}

// first are the first few offsets of a schedule.
func first(t *rapid.T, a Load, seed uint64) []time.Duration {
	if err := a.Validate(); err != nil {
		t.Fatal(err)
	}
	s := a.Schedule(seed, "stage")
	var at []time.Duration
	for range 200 {
		due, ok := s.Next()
		if !ok {
			break
		}
		at = append(at, due)
	}
	return at
}

// A ramp that has ended stays ended, whatever is asked of it.
func TestRampEnds(t *testing.T) {
	s := Ramp{From: 5, To: 50, Over: 10 * time.Second}.Schedule(1, "ramp")
	n := len(arrivals(s, math.Inf(1)))
	if n < 200 || n > 350 {
		t.Errorf("%d arrivals, want about 275", n)
	}
	for range 3 {
		if due, ok := s.Next(); ok {
			t.Fatalf("due again at %v", due)
		}
	}
}

func TestTraceReplays(t *testing.T) {
	offsets := []time.Duration{0, 0, 1500 * time.Millisecond, 4 * time.Second, 3000000000000000001}
	for _, c := range []struct {
		speed float64
		want  []time.Duration
	}{
		{1, offsets},
		{2, []time.Duration{0, 0, 750 * time.Millisecond, 2 * time.Second, 1500000000000000000}},
		{0.5, []time.Duration{0, 0, 3 * time.Second, 8 * time.Second, 6000000000000000000}},
		{0.25, []time.Duration{0, 0, 6 * time.Second, 16 * time.Second, math.MaxInt64}},
	} {
		s := Trace{Offsets: offsets, Speed: c.speed}.Schedule(0, "")
		var got []time.Duration
		for due, ok := s.Next(); ok; due, ok = s.Next() {
			got = append(got, due)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("at speed %v (-want +got):\n%s", c.speed, diff)
		}
	}
}

func TestParse(t *testing.T) {
	for in, want := range map[string]Load{
		"":                    Poisson{},
		"poisson":             Poisson{},
		"constant":            Constant{},
		"gamma:0.5":           Gamma{Shape: 0.5},
		"ramp:2-20":           Ramp{From: 2, To: 20},
		"ramp:0-1e1":          Ramp{To: 10},
		"ramp:1e-3-2.5e-1":    Ramp{From: 0.001, To: 0.25},
		"ramp:20-2":           Ramp{From: 20, To: 2},
		"trace:a.jsonl":       Trace{File: "a.jsonl"},
		`trace:C:\traces\a-b`: Trace{File: `C:\traces\a-b`},
	} {
		got, err := parse(in)
		if err != nil {
			t.Errorf("%q: %v", in, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
		if again, err := parse(got.text()); err != nil || !cmp.Equal(again, got) {
			t.Errorf("%q becomes %q, which becomes %v, %v", in, got.text(), again, err)
		}
	}
	for _, in := range []string{
		"poison", "poisson:1", "constant:", "clients", "gamma", "gamma:", "gamma:0", "gamma:-1", "gamma:NaN", "gamma:Inf",
		"gamma:1e9",
		"ramp", "ramp:5", "ramp:-5-3", "ramp:0-0", "ramp:5-Inf", "ramp:NaN-1", "ramp:a-b", "trace", "trace:", "Poisson",
	} {
		if got, err := parse(in); err == nil {
			t.Errorf("%q is read as %v", in, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"poisson", "gamma:0.5", "ramp:2-20", "ramp:1e-3-5", "trace:a:b"} {
		f.Add(s)
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, s string) {
		a, err := parse(s)
		if err != nil {
			return
		}
		if again, err := parse(a.text()); err != nil || !cmp.Equal(again, a) {
			t.Errorf("%q is %+v, and %q is %+v, %v", s, a, a.text(), again, err)
		}
		o := Options{Arrivals: s, Rate: 5, Duration: time.Minute}
		switch a.(type) {
		case Trace:
			return
		case Ramp:
			o.Rate = 0
		}
		loads, err := o.Loads()
		if err != nil || len(loads) != 1 {
			t.Fatalf("%d loads, %v", len(loads), err)
		}
		schedule := loads[0].Schedule(1, "stage")
		for last, i := time.Duration(0), 0; i < 20; i++ {
			due, ok := schedule.Next()
			if ok && due < last {
				t.Fatalf("%v goes back from %v to %v", a, last, due)
			}
			last = due
		}
	}))
}

func TestValidate(t *testing.T) {
	for _, l := range []Load{
		Closed{1}, Closed{maxConcurrency}, Constant{Rate: 1}, Poisson{Rate: maxRate}, Gamma{Rate: 1, Shape: 0.5},
		Ramp{To: 1, Over: 1},
		Trace{File: "x", Speed: 2}, Trace{File: "x"},
	} {
		if err := l.Validate(); err != nil {
			t.Errorf("%#v: %v", l, err)
		}
	}
	for _, l := range []Load{
		Closed{}, Closed{-1}, Closed{maxConcurrency + 1}, Constant{}, Constant{Rate: -1}, Poisson{Rate: math.NaN()},
		Poisson{Rate: math.Inf(1)}, Poisson{Rate: 1, MaxConcurrency: -1}, Gamma{Rate: 1e8, Shape: 1}, Gamma{Rate: 1},
		Ramp{To: 1},
		Ramp{Over: 1}, Ramp{From: -1, To: 3, Over: 1}, Trace{}, Trace{File: "x", Speed: -1},
	} {
		if l.Validate() == nil {
			t.Errorf("%#v is taken", l)
		}
	}
}

func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want []Load // nil: refused
	}{
		"closed loops": {Options{Concurrency: []int{2, 8}}, []Load{Closed{2}, Closed{8}}},
		"a rate":       {Options{Rate: 3, MaxConcurrency: 4}, []Load{Poisson{Rate: 3, MaxConcurrency: 4}}},
		"gamma":        {Options{Rate: 3, Arrivals: "gamma:2"}, []Load{Gamma{Rate: 3, Shape: 2}}},
		"a ramp": {Options{Arrivals: "ramp:1-5", Duration: time.Second},
			[]Load{Ramp{From: 1, To: 5, Over: time.Second}}},
		"a ramp of some minutes": {Options{Arrivals: "ramp:1-5"}, []Load{Ramp{From: 1, To: 5, Over: defaultDuration}}},
		"a trace":                {Options{Arrivals: "trace:x", TimeScale: 2}, []Load{Trace{File: "x", Speed: 2}}},
		"nothing":                {Options{}, nil},
		"both loops":             {Options{Concurrency: []int{2}, Rate: 3}, nil},
		"no rate":                {Options{Arrivals: "constant"}, nil},
		"a rate below 0":         {Options{Rate: -1}, nil},
		"a ramp with a rate":     {Options{Arrivals: "ramp:1-5", Rate: 2}, nil},
		"a scale without trace":  {Options{Rate: 2, TimeScale: 2}, nil},
		"a scale, closed":        {Options{Concurrency: []int{2}, TimeScale: 2}, nil},
		"a scale and a rate":     {Options{Arrivals: "trace:x", Rate: 2, TimeScale: 2}, nil},
		"none in flight":         {Options{Concurrency: []int{0}}, nil},
		"twice":                  {Options{Concurrency: []int{4, 4}}, nil},
		"a limit, closed":        {Options{Concurrency: []int{4}, MaxConcurrency: 2}, nil},
		"requests and duration":  {Options{Rate: 1, Requests: 2, Duration: 3}, nil},
		"requests below 0":       {Options{Rate: 1, Requests: -2}, nil},
	} {
		got, err := c.o.Loads()
		if (err != nil) != (c.want == nil) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRateNames(t *testing.T) {
	for rate, want := range map[float64]string{1.567: "1.57", 10: "10.00", 0.512: "0.512", 0.0123: "0.0123",
		1234.5: "1234.50"} {
		if got := RateName(rate); got != want {
			t.Errorf("%v is called %s, want %s", rate, got, want)
		}
	}
}
